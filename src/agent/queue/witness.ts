// What the small store knows of the durable queue: how far it went, and what flash could not take.
//
// A queue that is erased, older than it was, another device's, or that can't be read is noticed by it,
// and its points are counted. Written when a sector is opened, when the run ends in good order, and at
// most once a second while flash fails: never for each point.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import type { FlashLog } from "./flash-log.js";
import { applyStatus, DONE, type LogState } from "./record.js";

const KEY = "queue";
/** What an image before this one reads and writes while flash fails; after a roll-back it counts by it. */
const OLD_KEY = "spare";

/** All numbers are those of the queue's own row. */
interface Note {
  /** Random, the same for the life of a queue; 0: not known. */
  readonly generation: number;
  /** The newest sector. */
  readonly sequence: number;
  /** The next point, as flash had it; points from `bound` on are not there yet. */
  readonly next: number;
  readonly bound: number;
  /** Points below it were dealt with. */
  readonly confirmed: number;
  /** Points in memory only at most, as flash failed. */
  readonly inMemory: number;
  readonly full: number;
  readonly refused: number;
  readonly unreadable: number;
}

export class Witness {
  /** The queue's. */
  generation = 0;
  /** Points that were counted as unreadable at the start, because the queue is another device's. */
  lost = 0;
  private readonly _host: Host;
  private _note: Note | undefined;
  private _writtenAt = Number.NEGATIVE_INFINITY;
  private _failed = false;
  private _hasOld = false;

  constructor(host: Host) {
    this._host = host;
  }

  /** ms since it was written. */
  get age(): number {
    return this._host.clock.now() - this._writtenAt;
  }

  /**
   * Adds to `state`, as flash has it, what should be there: points that are missing are raised in
   * `next`, drops in their counts. `isRead`: the newest sector was found and read. True if flash did
   * not have all of that. Adds the same again until flash has it.
   */
  addTo(state: LogState, generation: number, isRead: boolean): boolean {
    const before = JSON.stringify(state);
    const known = readNote(readStored(this._host, KEY));
    const old = readOld(readStored(this._host, OLD_KEY));
    this._note = known;
    this._hasOld = old !== undefined;
    this.generation = generation || known?.generation || this._random();
    if (known) this.lost += applyNote(known, state, generation, isRead);
    if (old) this.lost += applyNote(old, state, 0, isRead);
    return JSON.stringify(state) !== before;
  }

  /** What is noted still holds when `points` more are appended. */
  covers({ state }: FlashLog, points: number): boolean {
    const note = this._note;
    if (!note) return state.sequence === 0 && points === 0;
    return note.sequence === state.sequence && state.next + points <= note.bound;
  }

  /** So many points are in memory only, it says. */
  get unsaved(): number {
    return this._note?.inMemory ?? 0;
  }

  /** Notes how the queue is. `isLast`: nothing is appended before the next note. False if the store does not take it. */
  keep(log: FlashLog, inMemory: number, isLast = false): boolean {
    const { sequence, next, confirmed, full, refused, unreadable } = log.state;
    const bound = isLast ? next : log.bound;
    const { generation } = this;
    const note = { generation, sequence, next, bound, confirmed, inMemory, full, refused, unreadable };
    if (this._note && !this._failed && rowOf(this._note, FIELDS).join() === rowOf(note, FIELDS).join())
      return true;
    this._writtenAt = this._host.clock.now();
    // Of a store that fails no more is asked than once a sector, or a second.
    this._note = note;
    this._failed = !writeStored(this._host, KEY, rowOf(note, FIELDS), this._failed);
    return this._keepOld(note) && !this._failed;
  }

  /** Forgets all; false if the store keeps any of it. */
  forget(): boolean {
    this._note = undefined;
    const { store } = this._host;
    const isGone = store.delete(KEY);
    return store.delete(OLD_KEY) && isGone;
  }

  private _keepOld(note: Note): boolean {
    if (note.inMemory > 0) {
      this._hasOld = true;
      return writeStored(this._host, OLD_KEY, rowOf(note, OLD_FIELDS), true);
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
const applyNote = (note: Note, state: LogState, generation: number, isRead: boolean): number => {
  const { bound, inMemory, confirmed, full, refused, unreadable } = note;
  // An older image that could not read the queue counted by itself.
  const isApart = note.sequence < 0;
  if (isApart || (generation > 0 && note.generation > 0 && generation !== note.generation)) {
    const lost = isApart ? inMemory : bound - confirmed + inMemory;
    state.full = full + (isApart ? state.full : 0);
    state.refused = refused + (isApart ? state.refused : 0);
    state.unreadable = unreadable + lost + (isApart ? state.unreadable : 0);
    return lost;
  }
  const isOlder = !isRead || state.sequence < note.sequence || state.next < note.next;
  const end = isOlder ? bound : inMemory > 0 ? note.next : 0;
  if (state.sequence === 0) state.sequence = note.sequence;
  state.next = Math.max(state.next, end + inMemory);
  applyStatus(state, DONE, confirmed);
  state.full = Math.max(state.full, full);
  state.refused = Math.max(state.refused, refused);
  state.unreadable = Math.max(state.unreadable, unreadable);
  return 0;
};

/** The order of a stored row. */
const FIELDS = [
  "generation",
  "sequence",
  "next",
  "bound",
  "confirmed",
  "inMemory",
  "full",
  "refused",
  "unreadable",
] as const;
const OLD_FIELDS = ["sequence", "next", "full", "refused", "unreadable", "inMemory", "confirmed"] as const;

const rowOf = (note: Note, fields: readonly (keyof Note)[]): number[] => fields.map((field) => note[field]);

/** Undefined for a value that is not a row of these fields. */
const fieldsOf = <F extends keyof Note>(
  value: unknown,
  fields: readonly F[],
): Record<F, number> | undefined => {
  if (!Array.isArray(value) || value.length !== fields.length) return undefined;
  if (!value.every((one) => Number.isSafeInteger(one))) return undefined;
  const note = {} as Record<F, number>;
  fields.forEach((field, i) => {
    note[field] = value[i];
  });
  return note;
};

const readNote = (value: unknown): Note | undefined => fieldsOf(value, FIELDS);

const readOld = (value: unknown): Note | undefined => {
  const old = fieldsOf(value, OLD_FIELDS);
  return old && { ...old, generation: 0, bound: old.next };
};
