// The queue's high-water mark: how far the durable queue got, stored in the key-value store.
//
// It reveals a queue that was erased, replaced by an older copy or another device's queue, or that
// cannot be read, so that the lost points are counted. It is written when a sector is opened, at an
// orderly end, and at most once a second while flash fails, but never for each point.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import type { FlashLog } from "./flash-log.js";
import { applyStatus, DONE, type LogState } from "./record.js";

const KEY = "queue";
/** Key used by the previous image version while flash fails; needed after a roll-back. */
const OLD_KEY = "spare";

/** The stored values. All point numbers are the queue's own. */
interface Mark {
  /** Random number that identifies the queue; 0: unknown. */
  readonly generation: number;
  /** Number of the newest sector. */
  readonly sequence: number;
  /** Flash may hold points from `next` up to `bound`, not included. */
  readonly next: number;
  readonly bound: number;
  /** Points below this number are delivered or dropped: `LogState.finishedBelow`. */
  readonly finishedBelow: number;
  /** Upper limit of points that are only in memory because flash failed. */
  readonly inMemory: number;
  readonly full: number;
  readonly refused: number;
  readonly unreadable: number;
}

/**
 * Stores how far the queue got, and counts the points that flash lost since. It is not a size limit
 * like the `highWaterMark` of a stream.
 */
export class HighWaterMark {
  /** Generation of the current queue. */
  generation = 0;
  /** Points counted as unreadable at the start, because the queue belongs to another device. */
  lost = 0;
  private readonly _host: Host;
  private _mark: Mark | undefined;
  private _writtenAt = Number.NEGATIVE_INFINITY;
  private _failed = false;
  private _hasOld = false;

  constructor(host: Host) {
    this._host = host;
  }

  /** ms since the mark was written. */
  get age(): number {
    return this._host.clock.now() - this._writtenAt;
  }

  /**
   * Adds to `state`, as read from flash, the points and drops that flash is missing. `isRead`: the
   * newest sector was found and read. True if anything was added. Repeated starts add the same
   * until flash contains it.
   */
  addTo(state: LogState, generation: number, isRead: boolean): boolean {
    const before = JSON.stringify(state);
    const known = readMark(readStored(this._host, KEY));
    const old = readOld(readStored(this._host, OLD_KEY));
    this._mark = known;
    this._hasOld = old !== undefined;
    this.generation = generation || known?.generation || this._random();
    if (known) this.lost += applyMark(known, state, generation, isRead);
    if (old) this.lost += applyMark(old, state, 0, isRead);
    return JSON.stringify(state) !== before;
  }

  /** True if the mark stays valid when `points` more are appended. */
  covers({ state }: FlashLog, points: number): boolean {
    const mark = this._mark;
    if (!mark) return state.sequence === 0 && points === 0;
    return mark.sequence === state.sequence && state.next + points <= mark.bound;
  }

  /** Points that the mark says are only in memory. */
  get unsaved(): number {
    return this._mark?.inMemory ?? 0;
  }

  /**
   * Saves the mark of the queue. `isLast`: nothing is appended before the next mark. False if the
   * store failed.
   */
  save(log: FlashLog, inMemory: number, isLast = false): boolean {
    const { sequence, next, finishedBelow, full, refused, unreadable } = log.state;
    const bound = isLast ? next : log.bound;
    const { generation } = this;
    const mark = { generation, sequence, next, bound, finishedBelow, inMemory, full, refused, unreadable };
    if (this._mark && !this._failed && rowOf(this._mark, FIELDS).join() === rowOf(mark, FIELDS).join())
      return true;
    this._writtenAt = this._host.clock.now();
    // A failing store is written at most once a sector or once a second.
    this._mark = mark;
    this._failed = !writeStored(this._host, KEY, rowOf(mark, FIELDS), this._failed);
    return this._saveOld(mark) && !this._failed;
  }

  /** Deletes the marks; false if the store keeps one. */
  forget(): boolean {
    this._mark = undefined;
    const { store } = this._host;
    const isDeleted = store.delete(KEY);
    return store.delete(OLD_KEY) && isDeleted;
  }

  private _saveOld(mark: Mark): boolean {
    if (mark.inMemory > 0) {
      this._hasOld = true;
      return writeStored(this._host, OLD_KEY, rowOf(mark, OLD_FIELDS), true);
    }
    if (this._hasOld) this._hasOld = !this._host.store.delete(OLD_KEY);
    return true;
  }

  private _random(): number {
    const bytes = new Uint8Array(4);
    this._host.random(bytes);
    return 1 + new Uint32Array(bytes.buffer)[0]!;
  }
}

/** Returns the points that it counts as unreadable. */
const applyMark = (mark: Mark, state: LogState, generation: number, isRead: boolean): number => {
  const { bound, inMemory, finishedBelow, full, refused, unreadable } = mark;
  // An older image that could not read the queue counted points separately.
  const wasCountedAlone = mark.sequence < 0;
  if (wasCountedAlone || (generation > 0 && mark.generation > 0 && generation !== mark.generation)) {
    const lost = wasCountedAlone ? inMemory : bound - finishedBelow + inMemory;
    state.full = full + (wasCountedAlone ? state.full : 0);
    state.refused = refused + (wasCountedAlone ? state.refused : 0);
    state.unreadable = unreadable + lost + (wasCountedAlone ? state.unreadable : 0);
    return lost;
  }
  const isOlder = !isRead || state.sequence < mark.sequence || state.next < mark.next;
  const end = isOlder ? bound : inMemory > 0 ? mark.next : 0;
  if (state.sequence === 0) state.sequence = mark.sequence;
  state.next = Math.max(state.next, end + inMemory);
  applyStatus(state, DONE, finishedBelow);
  state.full = Math.max(state.full, full);
  state.refused = Math.max(state.refused, refused);
  state.unreadable = Math.max(state.unreadable, unreadable);
  return 0;
};

/** Order of the values in a stored row. */
const FIELDS = [
  "generation",
  "sequence",
  "next",
  "bound",
  "finishedBelow",
  "inMemory",
  "full",
  "refused",
  "unreadable",
] as const;
const OLD_FIELDS = [
  "sequence",
  "next",
  "full",
  "refused",
  "unreadable",
  "inMemory",
  "finishedBelow",
] as const;

const rowOf = (mark: Mark, fields: readonly (keyof Mark)[]): number[] => fields.map((field) => mark[field]);

/** Undefined if the value is not a row with these fields. */
const fieldsOf = <F extends keyof Mark>(
  value: unknown,
  fields: readonly F[],
): Record<F, number> | undefined => {
  if (!Array.isArray(value) || value.length !== fields.length) return undefined;
  if (!value.every((one) => Number.isSafeInteger(one))) return undefined;
  const mark = {} as Record<F, number>;
  fields.forEach((field, i) => {
    mark[field] = value[i];
  });
  return mark;
};

const readMark = (value: unknown): Mark | undefined => fieldsOf(value, FIELDS);

const readOld = (value: unknown): Mark | undefined => {
  const old = fieldsOf(value, OLD_FIELDS);
  return old && { ...old, generation: 0, bound: old.next };
};
