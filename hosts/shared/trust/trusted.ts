// Whom a device trusts now: what it was given, without what was dropped, and with what was added.
import type { Host } from "../../../src/port.js";
import { type Announced, BUILT_IN, isMeant, MOST, OLD, SHORT } from "./announcement.js";
import { type Authority, authoritiesIn, endOf, MACHINES_OWN, sha256 } from "./authority.js";
import { type Keeper, type Kept, readAdded, readTrust, writeTrust } from "./kept.js";

/** What a device trusts before anything is added or dropped, and how a host connects by it. */
export interface Given {
  /** DER or PEM. None: those that come with the machine, where `isBuiltIn`, and else nobody. */
  readonly authorities: readonly Uint8Array[];
  readonly isBuiltIn: boolean;
  /** They are what the device's owner gave. */
  readonly isCommissioned: boolean;
  /** `open` of the port that trusts these; one of no bytes stands for those that come with the machine. */
  open(authorities: readonly Uint8Array[]): Host["open"];
}

/** What an announcement leads to. */
export interface Change {
  /** Authorities whose certificates are needed. */
  readonly missing: Announced["ca"];
  /** What is to be dropped, by name. */
  readonly waiting: readonly string[];
}

export class Trusted {
  private readonly _keeper: Keeper;
  private readonly _given: Given;
  /** Stands for what the owner gave. */
  private readonly _by: string;
  private _kept: Kept;

  constructor(keeper: Keeper, given: Given) {
    this._keeper = keeper;
    this._given = given;
    const ids = given.isCommissioned ? this._base().map(({ id }) => id) : [];
    this._by = ids.length > 0 ? sha256(keeper, keeper.encode(ids.join())).slice(0, SHORT) : "";
    this._kept = readTrust(keeper, this._by);
  }

  get kept(): Kept {
    return this._kept;
  }

  /** All that are trusted, but those of these names. */
  authorities(without: readonly string[] = []): Authority[] {
    const { dropped } = this._kept;
    const base = this._base().filter(({ id }) => !isMeant(dropped, id));
    // A later image may have one built in that was added.
    const added = readAdded(this._keeper, this._kept).filter(({ id }) => !base.some((one) => one.id === id));
    return base.concat(added).filter(({ id }) => !without.includes(id));
  }

  /**
   * `open` of the port by those that are trusted now, with `more` and without those of these names. With nobody left it connects to nobody.
   */
  opener(without: readonly string[] = [], more: readonly Authority[] = []): Host["open"] {
    const { added, dropped } = this._kept;
    const isAsGiven = added.length + dropped.length + without.length + more.length === 0;
    if (isAsGiven) return this._given.open(this._given.authorities);
    const ders = this._valid(this.authorities(without).concat(more)).map(({ der }) => der);
    return ders.length > 0 ? this._given.open(ders) : this._refuse;
  }

  /** True if `announced` names one that is not trusted: what was kept of it was damaged. */
  lacks({ ca }: Announced): boolean {
    const now = this.authorities();
    return ca.some(({ sha256 }) => !now.some(({ id }) => id === sha256));
  }

  /** What `announced` leads to, or why it can't be done, for people. */
  plan({ ca, drop }: Announced): Change | string {
    const now = this.authorities();
    const isWanted = (id: string): boolean => ca.some(({ sha256 }) => sha256 === id);
    const isOld = drop.includes(OLD);
    const all = now.map(({ id }) => id);
    const waiting = all.filter((id) => !isWanted(id) && (isOld || isMeant(drop, id)));
    const given = this._base().map(({ id }) => id);
    const missing = ca.filter(({ sha256 }) => !all.includes(sha256) && !given.includes(sha256));
    const { length } = this._kept.added;
    if (length + missing.length > MOST)
      return `full: ${length} authorities were added, and ${MOST} is the most: drop one first`;
    if (ca.length === 0 && waiting.length === all.length) return "no authority would be left";
    return { missing, waiting };
  }

  /** Keeps what `announced` leads to; false if the store takes none of it. */
  take(
    announced: Announced,
    digest: string,
    waiting: readonly string[],
    fresh: readonly Authority[],
  ): boolean {
    const { by, added, dropped } = this._kept;
    const { sequence, ca } = announced;
    const isBack = (what: string): boolean => ca.some(({ sha256 }) => isMeant([what], sha256));
    const kept = { by, sequence, digest, added, dropped: dropped.filter((what) => !isBack(what)), waiting };
    return this._write(kept, fresh);
  }

  /** Drops what waits for it; false if the store does not take that. */
  drop(): boolean {
    const { added, dropped, waiting } = this._kept;
    return this._write(
      {
        ...this._kept,
        added: added.filter(([, id]) => !waiting.includes(id)),
        dropped: dropped.concat(waiting),
        waiting: [],
      },
      [],
    );
  }

  private _write(kept: Kept, fresh: readonly Authority[]): boolean {
    if (!writeTrust(this._keeper, kept, fresh)) return false;
    this._kept = readTrust(this._keeper, this._by);
    return true;
  }

  private _base(): Authority[] {
    const { authorities, isBuiltIn } = this._given;
    if (authorities.length === 0 && isBuiltIn) return [MACHINES_OWN];
    return authorities.flatMap((bytes) => authoritiesIn(this._keeper, bytes));
  }

  /** One that is over stands in the way of one that took its place under its name: TLS looks no further than to the first. */
  private _valid(all: Authority[]): Authority[] {
    const now = this._keeper.clock.wall();
    if (now === undefined || all.length < 2) return all;
    const valid = all.filter((one) => one.id === BUILT_IN || (endOf(one) ?? now) >= now);
    return valid.length > 0 ? valid : all;
  }

  private readonly _refuse: Host["open"] = (_name, _port, _secure, event) => {
    const cancel = this._keeper.clock.timer(0, () => event("closed", "certificate: no authority is left"));
    return { write: () => 0, read: () => 0, close: cancel };
  };
}
