// The CAs that a device trusts: its initial ones without the dropped ones, and the added ones.
import type { Host } from "../../src/port.js";
import { type Announced, BUILT_IN, isMeant, MOST, OLD, SHORT, short } from "./announcement.js";
import { type Authority, authoritiesIn, endOf, MACHINES_OWN, sha256 } from "./authority.js";
import {
  fits,
  mendTrust,
  readAdded,
  readTrust,
  type TrustHost,
  type TrustState,
  writeTrust,
} from "./trust-state.js";

/** The CAs that a device trusts before any is added or dropped, and how it connects with CAs. */
export interface InitialTrust {
  /** CA certificates, DER or PEM. */
  readonly authorities: readonly Uint8Array[];
  /** If `authorities` is empty, trust the CAs of the machine; otherwise trust none. */
  readonly isBuiltIn: boolean;
  /** True if the device's owner entered `authorities`. */
  readonly isCommissioned: boolean;
  /** Returns `open` of the port with these CAs. An empty one stands for the CAs of the machine. */
  open(authorities: readonly Uint8Array[]): Host["open"];
}

/** The change that an announcement asks for. */
export interface Change {
  /** CAs whose certificates must be read from the platform. */
  readonly missing: Announced["ca"];
  /** CAs to drop, by SHA-256 or BUILT_IN. */
  readonly waiting: readonly string[];
}

export class Trusted {
  private readonly _host: TrustHost;
  private readonly _initial: InitialTrust;
  /** Identifies the owner's CAs; "" if the owner entered none. */
  private readonly _ownerId: string;
  private _state: TrustState;

  constructor(host: TrustHost, initial: InitialTrust) {
    this._host = host;
    this._initial = initial;
    const ids = initial.isCommissioned ? this._initialAuthorities().map(({ id }) => id) : [];
    this._ownerId = ids.length > 0 ? sha256(host, host.encode(ids.join())).slice(0, SHORT) : "";
    mendTrust(host);
    this._state = this._load();
  }

  get state(): TrustState {
    return this._state;
  }

  /** The trusted CAs, except those with an id in `without`. */
  authorities(without: readonly string[] = []): Authority[] {
    const { dropped } = this._state;
    const base = this._initialAuthorities().filter(({ id }) => !isMeant(dropped, id));
    // A CA that was added may be built into a later image.
    const added = readAdded(this._host, this._state).filter(({ id }) => !base.some((one) => one.id === id));
    return base.concat(added).filter(({ id }) => !without.includes(id));
  }

  /**
   * `open` of the port with the trusted CAs except `without`, plus `more`. If no CA is left, each
   * connection fails.
   */
  opener(without: readonly string[] = [], more: readonly Authority[] = []): Host["open"] {
    const { added, dropped } = this._state;
    const isAsGiven = added.length + dropped.length + without.length + more.length === 0;
    if (isAsGiven) return this._initial.open(this._initial.authorities);
    const ders = this._validFirst(this.authorities(without).concat(more)).map(({ der }) => der);
    return ders.length > 0 ? this._initial.open(ders) : this._openNone;
  }

  /** True if a CA of the accepted announcement is missing: its stored certificate was damaged. */
  lacks({ ca }: Announced): boolean {
    const now = this.authorities();
    return ca.some(({ sha256 }) => !now.some(({ id }) => id === sha256));
  }

  /** The change that `announced` asks for, or why it is impossible, for people. */
  changeFor(announced: Announced): Change | string {
    const { ca, drop } = announced;
    const now = this.authorities();
    const isWanted = (id: string): boolean => ca.some(({ sha256 }) => sha256 === id);
    const isOld = drop.includes(OLD);
    const all = now.map(({ id }) => id);
    const waiting = all.filter((id) => !isWanted(id) && (isOld || isMeant(drop, id)));
    const initial = this._initialAuthorities().map(({ id }) => id);
    const missing = ca.filter(({ sha256 }) => !all.includes(sha256) && !initial.includes(sha256));
    const { added, dropped } = this._state;
    if (added.length + missing.length > MOST)
      return `full: ${added.length} CAs were added, and ${MOST} is the maximum: drop one first`;
    if (ca.length === 0 && waiting.length === all.length) return "no CA would be left";
    const accepted = this._afterAccept(announced, "0".repeat(64), waiting);
    const slots = missing.map(({ sha256 }): [number, string] => [MOST, sha256]);
    const next = { ...accepted, added: added.concat(slots) };
    // If a drop is not stored, a later image or owner that brings the CA makes it trusted again.
    if (!fits(this._host, next) || !fits(this._host, this._afterDrop(next)))
      return `${waiting.length} CAs to drop and ${dropped.length} dropped ones do not fit the store: drop fewer`;
    return { missing, waiting };
  }

  /** Stores an accepted announcement and its new CAs. False, with nothing changed, on failure. */
  accept(
    announced: Announced,
    digest: string,
    waiting: readonly string[],
    fresh: readonly Authority[],
  ): boolean {
    return this._store(this._afterAccept(announced, digest, waiting), fresh);
  }

  /** Drops the waiting CAs. False, with nothing changed, if the store failed. */
  dropWaiting(): boolean {
    return this._store(this._afterDrop(this._state), []);
  }

  private _afterAccept({ sequence, ca }: Announced, digest: string, waiting: readonly string[]): TrustState {
    const { by, added, dropped } = this._state;
    const isRestored = (name: string): boolean => ca.some(({ sha256 }) => isMeant([name], sha256));
    return { by, sequence, digest, added, dropped: dropped.filter((name) => !isRestored(name)), waiting };
  }

  private _afterDrop(state: TrustState): TrustState {
    const { added, dropped, waiting } = state;
    const names = waiting.map(short).filter((name) => !dropped.includes(name));
    return {
      ...state,
      added: added.filter(([, id]) => !waiting.includes(id)),
      dropped: dropped.concat(names),
      waiting: [],
    };
  }

  private _store(state: TrustState, fresh: readonly Authority[]): boolean {
    if (!writeTrust(this._host, state, fresh)) return false;
    this._state = this._load();
    return true;
  }

  private _load(): TrustState {
    // The owner's CAs stay trusted when the state is lost, so that the owner can repair the device.
    const initial = this._initial.isCommissioned ? [] : this._initialAuthorities().map(({ id }) => id);
    return readTrust(this._host, this._ownerId, initial);
  }

  private _initialAuthorities(): Authority[] {
    const { authorities, isBuiltIn } = this._initial;
    if (authorities.length === 0 && isBuiltIn) return [MACHINES_OWN];
    return authorities.flatMap((bytes) => authoritiesIn(this._host, bytes));
  }

  /**
   * Sorts expired CAs behind valid ones, because TLS may try only the first of CAs with the same
   * name. Keeps the expired ones, because the device's time may be wrong.
   */
  private _validFirst(all: Authority[]): Authority[] {
    const now = this._host.clock.wall();
    if (now === undefined) return all;
    const isValid = (one: Authority): boolean => one.id === BUILT_IN || (endOf(one) ?? now) >= now;
    return all.filter(isValid).concat(all.filter((one) => !isValid(one)));
  }

  private readonly _openNone: Host["open"] = (_name, _port, _secure, event) => {
    const reason = "certificate: every CA of this device was dropped";
    const cancel = this._host.clock.timer(0, () => event("closed", reason));
    return { write: () => 0, read: () => 0, close: cancel };
  };
}
