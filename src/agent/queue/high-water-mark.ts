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

/** The stored values. All point numbers are the queue's own. */
interface Mark {
  /** Random number that identifies the queue. */
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
    this._mark = known;
    this.generation = generation || known?.generation || this._random();
    if (known) this.lost += applyMark(known, state, generation, isRead);
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
    if (this._mark && !this._failed && rowOf(this._mark).join() === rowOf(mark).join()) return true;
    this._writtenAt = this._host.clock.now();
    // A failing store is written at most once a sector or once a second.
    this._mark = mark;
    this._failed = !writeStored(this._host, KEY, rowOf(mark), this._failed);
    return !this._failed;
  }

  /** Deletes the mark; false if the store keeps it. */
  forget(): boolean {
    this._mark = undefined;
    return this._host.store.delete(KEY);
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
  if (generation > 0 && generation !== mark.generation) {
    const lost = bound - finishedBelow + inMemory;
    Object.assign(state, { full, refused, unreadable: unreadable + lost });
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

const rowOf = (mark: Mark): number[] => FIELDS.map((field) => mark[field]);

/** Undefined if the value is not a stored row. */
const readMark = (value: unknown): Mark | undefined => {
  if (!Array.isArray(value) || value.length !== FIELDS.length) return undefined;
  if (!value.every((one) => Number.isSafeInteger(one))) return undefined;
  const mark = {} as Record<keyof Mark, number>;
  FIELDS.forEach((field, i) => {
    mark[field] = value[i];
  });
  return mark;
};
