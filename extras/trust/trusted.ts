// The CAs that a device trusts: the given ones without the dropped ones, and the added ones.
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

/** What a device trusts before anything is added or dropped, and how a host connects by it. */
export interface Given {
  /** DER or PEM. None: those that come with the machine, where `isBuiltIn`, otherwise nobody. */
  readonly authorities: readonly Uint8Array[];
  readonly isBuiltIn: boolean;
  /** The device's owner gave them. */
  readonly isCommissioned: boolean;
  /** `open` of the port with these CAs; an empty one stands for the CAs of the machine. */
  open(authorities: readonly Uint8Array[]): Host["open"];
}

/** What an announcement leads to. */
export interface Change {
  /** CAs whose certificates are needed. */
  readonly missing: Announced["ca"];
  /** CAs to drop, by SHA-256 or BUILT_IN. */
  readonly waiting: readonly string[];
}

export class Trusted {
  private readonly _host: TrustHost;
  private readonly _given: Given;
  /** Stands for what the owner gave. */
  private readonly _by: string;
  private _state: TrustState;

  constructor(host: TrustHost, given: Given) {
    this._host = host;
    this._given = given;
    const ids = given.isCommissioned ? this._base().map(({ id }) => id) : [];
    this._by = ids.length > 0 ? sha256(host, host.encode(ids.join())).slice(0, SHORT) : "";
    mendTrust(host);
    this._state = this._read();
  }

  get state(): TrustState {
    return this._state;
  }

  /** All that are trusted, except those of these names. */
  authorities(without: readonly string[] = []): Authority[] {
    const { dropped } = this._state;
    const base = this._base().filter(({ id }) => !isMeant(dropped, id));
    // A later image may have one built in that was added.
    const added = readAdded(this._host, this._state).filter(({ id }) => !base.some((one) => one.id === id));
    return base.concat(added).filter(({ id }) => !without.includes(id));
  }

  /**
   * `open` of the port with the trusted CAs, plus `more`, without the named ones. Connects to
   * nobody if none is left.
   */
  opener(without: readonly string[] = [], more: readonly Authority[] = []): Host["open"] {
    const { added, dropped } = this._state;
    const isAsGiven = added.length + dropped.length + without.length + more.length === 0;
    if (isAsGiven) return this._given.open(this._given.authorities);
    const ders = this._validFirst(this.authorities(without).concat(more)).map(({ der }) => der);
    return ders.length > 0 ? this._given.open(ders) : this._refuse;
  }

  /** True if `announced` names a CA that is not trusted: its stored certificate was damaged. */
  lacks({ ca }: Announced): boolean {
    const now = this.authorities();
    return ca.some(({ sha256 }) => !now.some(({ id }) => id === sha256));
  }

  /** What `announced` leads to, or why it can't be done, for people. */
  plan(announced: Announced): Change | string {
    const { ca, drop } = announced;
    const now = this.authorities();
    const isWanted = (id: string): boolean => ca.some(({ sha256 }) => sha256 === id);
    const isOld = drop.includes(OLD);
    const all = now.map(({ id }) => id);
    const waiting = all.filter((id) => !isWanted(id) && (isOld || isMeant(drop, id)));
    const given = this._base().map(({ id }) => id);
    const missing = ca.filter(({ sha256 }) => !all.includes(sha256) && !given.includes(sha256));
    const { added, dropped } = this._state;
    if (added.length + missing.length > MOST)
      return `full: ${added.length} CAs were added, and ${MOST} is the maximum: drop one first`;
    if (ca.length === 0 && waiting.length === all.length) return "no CA would be left";
    const taken = this._taken(announced, "0".repeat(64), waiting);
    const slots = missing.map(({ sha256 }): [number, string] => [MOST, sha256]);
    const kept = { ...taken, added: added.concat(slots) };
    // A drop that can't be remembered would be undone by whoever gives the CA again.
    if (!fits(this._host, kept) || !fits(this._host, this._dropped(kept)))
      return `${waiting.length} CAs to drop and ${dropped.length} dropped ones do not fit the store: drop fewer`;
    return { missing, waiting };
  }

  /** Keeps what `announced` leads to; false if the store takes none of it. */
  take(
    announced: Announced,
    digest: string,
    waiting: readonly string[],
    fresh: readonly Authority[],
  ): boolean {
    return this._write(this._taken(announced, digest, waiting), fresh);
  }

  /** Drops the CAs that wait for it; false if the store does not take that. */
  drop(): boolean {
    return this._write(this._dropped(this._state), []);
  }

  private _taken({ sequence, ca }: Announced, digest: string, waiting: readonly string[]): TrustState {
    const { by, added, dropped } = this._state;
    const isBack = (what: string): boolean => ca.some(({ sha256 }) => isMeant([what], sha256));
    return { by, sequence, digest, added, dropped: dropped.filter((what) => !isBack(what)), waiting };
  }

  private _dropped(state: TrustState): TrustState {
    const { added, dropped, waiting } = state;
    const names = waiting.map(short).filter((name) => !dropped.includes(name));
    return {
      ...state,
      added: added.filter(([, id]) => !waiting.includes(id)),
      dropped: dropped.concat(names),
      waiting: [],
    };
  }

  private _write(state: TrustState, fresh: readonly Authority[]): boolean {
    if (!writeTrust(this._host, state, fresh)) return false;
    this._state = this._read();
    return true;
  }

  private _read(): TrustState {
    // The owner's CAs stay trusted when the state is lost, so that the owner can repair the device.
    const given = this._given.isCommissioned ? [] : this._base().map(({ id }) => id);
    return readTrust(this._host, this._by, given);
  }

  private _base(): Authority[] {
    const { authorities, isBuiltIn } = this._given;
    if (authorities.length === 0 && isBuiltIn) return [MACHINES_OWN];
    return authorities.flatMap((bytes) => authoritiesIn(this._host, bytes));
  }

  /**
   * Sorts expired CAs behind valid ones: of CAs with the same name, TLS may try only the first.
   * None is left out, because the device's time may be wrong.
   */
  private _validFirst(all: Authority[]): Authority[] {
    const now = this._host.clock.wall();
    if (now === undefined) return all;
    const isValid = (one: Authority): boolean => one.id === BUILT_IN || (endOf(one) ?? now) >= now;
    return all.filter(isValid).concat(all.filter((one) => !isValid(one)));
  }

  private readonly _refuse: Host["open"] = (_name, _port, _secure, event) => {
    const reason = "certificate: every CA of this device was dropped";
    const cancel = this._host.clock.timer(0, () => event("closed", reason));
    return { write: () => 0, read: () => 0, close: cancel };
  };
}
