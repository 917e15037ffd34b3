// The queue's witness: how far the durable queue got, as a value in the key-value store.
//
// It reveals a queue that was erased, replaced by an older copy or another device's queue, or that
// cannot be read, so that the lost points are counted. It is written when a sector is opened, at an
// orderly end, and at most once a second while flash fails, but never for each point.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import { enterEpoch, epochAfter, finish, isAfter, lastStampOf, type QueueState } from "./record.js";

const KEY = "queue";

/** Order of the values in the stored row. */
const FIELDS = [
  "id",
  "sequence",
  "stored",
  "bound",
  "isFailing",
  "finished",
  "full",
  "refused",
  "unreadable",
  "epoch",
  "start",
  "floor",
] as const;

/**
 * `id`: random number that identifies the queue. Points from `stored` up to `bound`, not included,
 * may have been accepted since: to the newest sector, or only to memory if flash `isFailing` (1).
 */
type WitnessValue = Readonly<Record<(typeof FIELDS)[number], number>>;

export class Witness {
  /** Id of the current queue. */
  id = 0;
  /** Points that a queue of unknown content lost, at least: 1 if there was one. */
  unknown = 0;
  private readonly _host: Host;
  private readonly _known: WitnessValue | undefined;
  /** The stored value is damaged, or another version wrote it. */
  private readonly _isUnreadable: boolean;
  private _last: WitnessValue | undefined;
  private _writtenAt = Number.NEGATIVE_INFINITY;
  private _failed = false;

  /** Reads the stored value, before the queue is opened. */
  constructor(host: Host) {
    this._host = host;
    this._known = parseValue(readStored(host, KEY));
    this._last = this._known;
    this._isUnreadable = !this._known && host.store.get(KEY) !== undefined;
  }

  /** ms since the value was written. */
  get age(): number {
    return this._host.clock.now() - this._writtenAt;
  }

  /** The value says that points may be only in memory, because flash failed. */
  get isFailing(): boolean {
    return this._last?.isFailing === 1;
  }

  /** Points from this number on are not covered. */
  get bound(): number {
    return this._last?.bound ?? 0;
  }

  /** The time of this epoch is stored here, and no later start uses a time stamp of it again. */
  hasTime(state: QueueState): boolean {
    const last = this._last;
    const { epoch, start } = state;
    if (this._failed || !last || last.epoch !== epoch || last.start !== start) return false;
    return last.floor >= lastStampOf(state);
  }

  /**
   * Adds to the state read from flash the points and drops that flash is missing. `id`: of the
   * queue found, 0 if none was. `isUnknown`: more of it may be there, unread; `isCut`: in the
   * newest sector found. Returns the points that are lost at once, because the queue belongs to
   * another device or version. Repeated starts add the same until flash contains it.
   */
  addTo(state: QueueState, id: number, isUnknown: boolean, isCut: boolean): number {
    const known = this._known;
    this.id = id || known?.id || 0;
    if (known) return applyValue(known, state, id, isUnknown, isCut);
    this.unknown = isUnknown || (id === 0 && this._isUnreadable) ? 1 : 0;
    state.unreadable += this.unknown;
    return this.unknown;
  }

  /** True if the value stays valid when `points` more are stored. */
  covers({ sequence, stored }: QueueState, points: number): boolean {
    const value = this._last;
    if (!value) return sequence === 0 && points === 0;
    return value.sequence === sequence && stored + points <= value.bound;
  }

  /** Saves how far the queue got. False if the store failed. */
  note(state: QueueState, bound: number, isFailing: boolean): boolean {
    const { id } = this;
    // Time stamps of points that only memory held must not be used again.
    const floor = lastStampOf(state) + (isFailing ? FLOOR_MS : 0);
    const value: WitnessValue = { ...state, id, bound, isFailing: isFailing ? 1 : 0, floor };
    if (this._last && !this._failed && rowOf(this._last).join() === rowOf(value).join()) return true;
    this._writtenAt = this._host.clock.now();
    // A failing store is written at most once a sector or once a second.
    this._last = value;
    this._failed = !writeStored(this._host, KEY, rowOf(value));
    return !this._failed;
  }

  /** Deletes the value; false if the store keeps it. */
  forget(): boolean {
    this._last = undefined;
    return this._host.store.delete(KEY);
  }

  /** The id of the current queue, made up if there is none. */
  identify(): number {
    if (this.id > 0) return this.id;
    const bytes = new Uint8Array(4);
    this._host.random(bytes);
    this.id = 1 + new Uint32Array(bytes.buffer)[0]!;
    return this.id;
  }
}

/** Points until the next value is written are stamped at most so long after this one's. */
const FLOOR_MS = 2000;

/** Sectors that were opened after the value was written, and may be readable again one day. */
const SKIPPED = 1000;
/** Epochs that began in them. */
const UNKNOWN_EPOCHS = 1000;

const applyValue = (
  value: WitnessValue,
  state: QueueState,
  id: number,
  isUnknown: boolean,
  isCut: boolean,
): number => {
  const { bound, finished, full, refused, unreadable } = value;
  if (id > 0 && value.id > 0 && id !== value.id) {
    const lost = bound - finished;
    state.full += full;
    state.refused += refused;
    state.unreadable += unreadable + lost;
    return lost;
  }
  const isOlder = id === 0 || isCut || state.sequence < value.sequence || state.stored < value.stored;
  const isBehind = isUnknown && state.sequence < value.sequence;
  if (state.sequence === 0) state.sequence = value.sequence + SKIPPED;
  // If they can be read again, newer sectors must not replace those opened until then.
  else if (isBehind) state.sequence = value.sequence;
  if (isOlder || value.isFailing === 1) state.stored = Math.max(state.stored, bound);
  finish(state, finished);
  state.full = Math.max(state.full, full);
  state.refused = Math.max(state.refused, refused);
  state.unreadable = Math.max(state.unreadable, unreadable);
  if (isOlder || value.isFailing === 1) addTime(value, state);
  // Points that cannot be read now may have the next milliseconds of this epoch, or a later one.
  if (id > 0 && (isCut || isBehind)) enterEpoch(state, epochAfter(state.epoch + UNKNOWN_EPOCHS));
  return 0;
};

/** Flash may not know of the last epoch, of its time, or of points that only memory held. */
const addTime = ({ epoch, start, floor }: WitnessValue, state: QueueState): void => {
  if (isAfter(epoch, state.epoch)) Object.assign(state, { epoch, tick: 0, start: 0, exactFrom: 0 });
  if (epoch === state.epoch && start > 0) state.start = start;
  state.floor = Math.max(state.floor, floor);
};

const rowOf = (value: WitnessValue): number[] => FIELDS.map((field) => value[field]);

const parseValue = (value: unknown): WitnessValue | undefined => {
  if (!Array.isArray(value) || value.length !== FIELDS.length) return undefined;
  if (!value.every((one) => Number.isSafeInteger(one))) return undefined;
  const found = {} as Record<(typeof FIELDS)[number], number>;
  FIELDS.forEach((field, i) => {
    found[field] = value[i];
  });
  return found;
};
