// What the durable queue could not take while its flash failed, in the small store: how many points are in memory only, how many were dropped, and which
// are dealt with. So points that end with a run are counted by the next, and none that was counted or delivered comes back behind later ones.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import type { Drops } from "./drops.js";
import { applyStatus, type SectorState } from "./flash-log/sector-header.js";
import { DONE } from "./log-entry.js";

const STORED = "spare";
const NOTHING = [-1, 0, 0, 0, 0, 0, 0] as const;

/**
 * Where the queue stood, -1 if the host could not read it; the number of the first point in memory only; all drops; points in memory only; points below
 * `confirmed` are dealt with.
 */
type Spare = [
  newest: number,
  next: number,
  full: number,
  refused: number,
  unreadable: number,
  points: number,
  confirmed: number,
];

export class SpareCount {
  private readonly _host: Host;
  /** What the run before it left, or null, as long as the queue can't be read. */
  private _found: Spare | null | undefined;
  private _at = Number.NEGATIVE_INFINITY;
  /** What is in the store; "" is nothing. */
  private _stored = "";
  /** It can't be written, and that was reported. */
  private _failed = false;

  constructor(host: Host) {
    this._host = host;
  }

  /**
   * Adds to `state`, as flash has it, what the run before it left in the store. Once a header has it the same is found again, and not added again: a queue that
   * was read counts in totals. `newest`: -1 if it could not be read: then it is asked again when it could. True if that changed anything.
   */
  restore(state: SectorState, newest: number): boolean {
    const isFirst = this._found === undefined;
    const stored = isFirst ? readStored(this._host, STORED) : this._found;
    const found = isSpare(stored) ? stored : null;
    this._found = newest < 0 ? found : undefined;
    if (found === null) return false;
    if (isFirst) this._stored = JSON.stringify(found);
    const [known, next, full, refused, unreadable, points, confirmed] = found;
    if (known >= 0 && newest >= 0) {
      const lost = Math.max(0, next + points - state.next);
      const drops = state.full + state.refused + state.unreadable;
      // A queue that was erased meanwhile counts its points again, and begins with the first sector.
      const dealtWith = newest >= known ? applyStatus(state, DONE, confirmed) : 0;
      state.full = Math.max(state.full, full);
      state.refused = Math.max(state.refused, refused);
      state.unreadable = Math.max(state.unreadable, unreadable + lost);
      return dealtWith > 0 || state.full + state.refused + state.unreadable > drops;
    }
    state.full += full;
    state.refused += refused;
    state.unreadable += unreadable + points;
    return true;
  }

  /** Takes off `drops`, counted while the queue could not be read, what `restore` had added to them: the rest is of this run. */
  ofThisRun(drops: Readonly<Drops>): Pick<Drops, "full" | "refused"> {
    const found = this._found ?? NOTHING;
    return { full: drops.full - found[2], refused: drops.refused - found[3] };
  }

  /** ms since it was written. */
  get age(): number {
    return this._host.clock.now() - this._at;
  }

  /** `points` are in memory only and `state` is not on flash. False if the store does not take it. */
  keep(state: SectorState, newest: number, points: number): boolean {
    const { next, full, refused, unreadable, confirmed } = state;
    const spare: Spare = [newest, next, full, refused, unreadable, points, confirmed];
    const text = JSON.stringify(spare);
    if (text === this._stored || (newest < 0 && points === 0 && this._isStored(state))) return true;
    this._at = this._host.clock.now();
    const kept = writeStored(this._host, STORED, spare, this._failed);
    this._failed = !kept;
    if (kept) this._stored = text;
    return kept;
  }

  /** What was found, or nothing, says the same. */
  private _isStored(drops: Readonly<Drops>): boolean {
    if (this._stored !== (this._found ? JSON.stringify(this._found) : "")) return false;
    const { full, refused } = this.ofThisRun(drops);
    return full + refused === 0;
  }

  /** Flash has it all. False if it can't be deleted: then the next start finds that it is old. */
  clear(): boolean {
    if (this._stored !== "" && this._host.store.delete(STORED)) this._stored = "";
    return this._stored === "";
  }
}

const isSpare = (value: unknown): value is Spare => {
  return Array.isArray(value) && value.length === 7 && value.every((one) => Number.isSafeInteger(one));
};
