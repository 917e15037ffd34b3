// Points waiting for the platform: first in, first out.
//
// They lie in the sectors of the durable queue, if there is one, and in a ring in memory: the last of
// those on flash, so that they need not be read, and all that are not there.
import { HEAD_ROOM } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { BEFORE_BYTES, FRAME_BYTES } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import { type TelemetryOptions, type TelemetrySettings, telemetrySettings } from "../options/telemetry.js";
import type { Time } from "../time/time.js";
import { GIVEN } from "../time/time.js";
import { FlashLog } from "./flash-log.js";
import { FlashWriter, STAGE_BYTES } from "./flash-writer.js";
import { DONE, dropsOf, POINT_HEAD, REFUSED, whole } from "./record.js";
import { Ring } from "./ring.js";
import { Witness } from "./witness.js";

export type DropReason = "full" | "refused" | "unreadable";

/** Points dropped, by reason. */
export type Drops = { [reason in DropReason]: number };

/** Bytes before the body of a batch: for the head of its request, and for what comes before its first point. */
export const BATCH_FRONT = BEFORE_BYTES + HEAD_ROOM;

/** Bytes that a batch takes whose body has `limit` bytes at the most. */
export const roomOf = (limit: number): number => BATCH_FRONT + limit;

/** For so long nothing is sent because the first points can't be read. */
export const PATIENCE_MS = 60_000;
/** While that goes on, it is logged so often. */
const LOG_MS = 600_000;

/** Where a point lies: its record, `at` to `end` in `bytes`. `back` goes back before it. */
export type Place = Ring | FlashLog;

/**
 * Points are numbered in one row, from where the durable queue stood at the start. What a batch held is
 * forgotten by number, so that what was dropped meanwhile does not take others with it.
 */
export class Outbox {
  /** Points in memory, and behind them in the same bytes the batch that is sent: what is moved within them is moved natively. */
  readonly ring: Ring;
  /** Longest text of a point's values, in bytes. */
  readonly maxText: number;
  readonly settings: TelemetrySettings;
  /** Points that can't be read are given up after so long. */
  patienceMs = PATIENCE_MS;
  /** The first points can't be read now, and nothing is sent before them. */
  isUnreadable = false;
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _log: FlashLog | undefined;
  private readonly _writer: FlashWriter | undefined;
  private readonly _inMemory: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _reported = 0;
  private _onDrop: ((points: number, reason: DropReason) => void) | undefined;
  /** The drops that `_onDrop` knows of. */
  private _reportedDrops: Drops = { full: 0, refused: 0, unreadable: 0 };
  /** Points that `step` is yet to read from flash. */
  private _unread = 0;
  /** Since when the host can't read; undefined: it can. */
  private _unreadableSince: number | undefined;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, time: Time, options: TelemetryOptions) {
    this._host = host;
    this._time = time;
    this.settings = telemetrySettings(options);
    const { bufferBytes, batchBytes, drop } = this.settings;
    const ring = new Ring(new Uint8Array(bufferBytes + roomOf(batchBytes)), bufferBytes);
    this.ring = ring;
    let most = bufferBytes;
    if (host.blocks.size > 0) {
      const witness = new Witness(host);
      const log = FlashLog.open(host.blocks, drop === "oldest", witness);
      if (log) {
        most = Math.min(most, log.most);
        this._log = log;
        this._resume(log);
        this._writer = new FlashWriter(host, ring, log, witness, this.settings);
      } else
        host.log("error", "the blocks are too small for a durable queue: points are kept in memory only");
    }
    this.maxText = Math.min((most & ~3) - POINT_HEAD, batchBytes - FRAME_BYTES);
  }

  /** Points waiting. */
  get waiting(): number {
    const { count, onFlash } = this.ring;
    return this._log ? count - onFlash + this._log.waiting : count;
  }

  /** Fill level, 0 to 1 (approximate). */
  get fill(): number {
    return this._log?.failed === false ? this._log.fill : this.ring.used / this.ring.bytes.length;
  }

  /** The number of the first point waiting. */
  get first(): number {
    return this._log?.waiting ? this._log.first : this.ring.first;
  }

  /** The number that the next point gets. */
  get next(): number {
    return this.ring.next;
  }

  /** Points dropped since the durable queue began or, without one, since the start. */
  get dropped(): Drops {
    return this._log?.state ?? this._inMemory;
  }

  /** All points dropped. */
  get drops(): number {
    return dropsOf(this.dropped);
  }

  /** The drops that were reported to the platform. */
  get reported(): number {
    return this._log?.state.reported ?? this._reported;
  }

  /** From now on `onDrop` is called when points are dropped; at once for those found missing at the start. */
  watch(onDrop: (points: number, reason: DropReason) => void): void {
    this._onDrop = onDrop;
    this._reportDrops();
  }

  /**
   * Takes a point: the text of its values (`maxText` bytes at most), with the time stamp of the application or one of its own.
   * False: there is no room, and `drop` is "newest"; the point is counted as dropped.
   */
  append(text: Uint8Array, ts: Timestamp<"application"> | undefined): boolean {
    const { ring } = this;
    const length = POINT_HEAD + text.length;
    const free = this._log ? -1 : ring.reserve(whole(length));
    const at = free < 0 ? this._reserve(whole(length)) : free;
    if (at < 0) {
      this._count(1, "full");
      this._reportDrops();
      return false;
    }
    if (ts === undefined) {
      const time = this._time;
      time.next();
      ring.put(at, time.kind, time.epoch, time.time, text, length);
    } else ring.put(at, GIVEN, 0, ts, text, length);
    this._writer?.added(at, at + whole(length));
    this._reportDrops();
    return true;
  }

  /** The next `step` comes to the first point waiting. No batch built before is under way any more. */
  rewind(): void {
    const { ring, _log: log } = this;
    this.isUnreadable = log !== undefined && !this._canRead(log);
    this._reportDrops();
    this._unread = log ? log.waiting - ring.onFlash : 0;
    ring.rewind();
  }

  /** Goes to the next point, and says where it lies; undefined behind the last, and before what can't be read. */
  step(): Place | undefined {
    if (this._unread === 0) return this.ring.step() ? this.ring : undefined;
    if (this.isUnreadable || !this._log?.step()) return undefined;
    this._unread--;
    return this._log;
  }

  /** The platform took all points below `number`. */
  confirm(number: number): void {
    this._finish(DONE, number);
  }

  /** The platform will not have the points below `number`: they are dropped. */
  refuse(number: number): void {
    this._finish(REFUSED, number);
    this._reportDrops();
  }

  /** `drops` in all were reported to the platform. */
  dropsReported(drops: number): void {
    this._reported = drops;
    this._log?.reported(drops);
    this._writer?.look();
  }

  /** Brings what is in memory only to the durable queue, if there is one. */
  sync(): void {
    this._writer?.sync();
    this._reportDrops();
  }

  /** Points that end with this run, as flash fails. */
  get atRisk(): number {
    return this._writer?.atRisk ?? 0;
  }

  /** The run ends, or may: keeps what it can. `isLast`: nothing is recorded afterwards. Returns the points that end with it uncounted, because neither flash nor store takes anything. */
  close(isLast = false): number {
    return this._writer?.close(isLast) ?? 0;
  }

  /** Forgets all points, uncounted, and all that were dropped before; false if any stay on flash. */
  forget(): boolean {
    Object.assign(this.dropped, { full: 0, refused: 0, unreadable: 0 });
    Object.assign(this._reportedDrops, { full: 0, refused: 0, unreadable: 0 });
    this._reported = 0;
    this.ring.clear();
    return this._writer?.forget() !== false;
  }

  /** Goes on where the durable queue stands. */
  private _resume(log: FlashLog): void {
    const { _host: host } = this;
    const { state, waiting, lost } = log;
    this.ring.first = state.next;
    this._time.restore(state.lastStamp, state.epoch, state.tick, waiting);
    if (log.wasStrange)
      host.log("error", "the blocks hold something that is no durable queue: it begins empty");
    const { full, refused, unreadable } = state;
    this._reportedDrops = { full: full - lost.full, refused, unreadable: unreadable - lost.unreadable };
    const missing = lost.full + lost.unreadable;
    if (missing > 0)
      host.log(
        "error",
        `the durable queue is damaged, older or gone: ${missing} points of it at most are lost`,
      );
    if (waiting > 0) host.log("info", `${waiting} points wait from before`);
  }

  /** False if the first points can't be read now: they are given up in the end, as a sector may be damaged for good. */
  private _canRead(log: FlashLog): boolean {
    const now = this._host.clock.now();
    const isPatient = now - (this._unreadableSince ?? now) < this.patienceMs;
    if (log.rewind(log.state.next - this.ring.onFlash, isPatient)) {
      this._unreadableSince = undefined;
      return true;
    }
    this._unreadableSince ??= now;
    if (now - this._loggedAt >= LOG_MS) {
      this._loggedAt = now;
      this._host.log("error", "the durable queue can't be read: what waits there is kept, and tried again");
    }
    return false;
  }

  /** Where in the ring a record of `length` bytes goes, or -1. */
  private _reserve(length: number): number {
    const { ring, _log: log } = this;
    const { durable, drop } = this.settings;
    if (log?.failed === false && (durable || ring.pending >= STAGE_BYTES))
      if (!log.place(length) && !log.failed) return -1;
    let at = ring.reserve(length);
    if (at < 0) {
      this._writer?.makeRoom();
      at = ring.reserve(length);
    }
    for (; at < 0 && drop === "oldest"; at = ring.reserve(length)) {
      ring.shift();
      this._count(1, "full");
    }
    return at;
  }

  private _finish(kind: typeof DONE | typeof REFUSED, number: number): void {
    const { ring, _log: log, _writer: writer } = this;
    log?.finish(kind, number);
    // Of a point that never was on flash only the next header would say that it was refused, and the power may go before: brought there it gets a status entry,
    // each before the next could take its room.
    if (kind === REFUSED && log)
      for (let next = ring.first + ring.onFlash + 1; next <= number; next++) {
        writer?.sync(false, next);
        log.finish(kind, next);
      }
    const inMemory = ring.forget(number);
    if (kind === REFUSED && inMemory > 0) this._count(inMemory, "refused");
    if (log?.failed || log?.dirty) writer?.look();
  }

  private _count(points: number, reason: "full" | "refused"): void {
    if (this._log) this._log.count(points, reason);
    else this._inMemory[reason] += points;
  }

  /** Each point that was dropped is reported once. */
  private _reportDrops(): void {
    const { dropped, _reportedDrops: known, _log: log } = this;
    if (dropsOf(dropped) === dropsOf(known)) return;
    // Their copies in memory go as well.
    if (log) this.ring.forget(log.first);
    if (log?.failed || log?.dirty) this._writer?.look();
    this._reportOf("full");
    this._reportOf("refused");
    this._reportOf("unreadable");
  }

  private _reportOf(reason: DropReason): void {
    const points = this.dropped[reason] - this._reportedDrops[reason];
    if (points === 0 || !this._onDrop) return;
    this._reportedDrops[reason] += points;
    this._onDrop(points, reason);
  }
}
