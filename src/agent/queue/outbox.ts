import { HEAD_ROOM } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { BEFORE_BYTES, FRAME_BYTES } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import { type TelemetryOptions, type TelemetrySettings, telemetrySettings } from "../options/telemetry.js";
import type { Time } from "../time/time.js";
import { GIVEN } from "../time/time.js";
import type { DropReason, Drops } from "./drops.js";
import type { Sectors } from "./flash-log/flash-log.js";
import { DONE, POINT_HEAD, REFUSED, whole } from "./log-entry.js";
import { Ring } from "./ring-buffer.js";
import { STAGE_BYTES, Staging } from "./staging.js";
import { UnreadHold } from "./unread-hold.js";

/** Bytes before the body of a batch: for the head of its request, and for what comes before its first point. */
export const BATCH_FRONT = BEFORE_BYTES + HEAD_ROOM;

/** Bytes that a batch takes whose body has `limit` bytes at the most. */
export const roomOf = (limit: number): number => BATCH_FRONT + limit;

/** Where a point lies: its record, `at` to `end` in `bytes`. `back` goes back before it. */
export type Place = Ring | Sectors;

/**
 * The telemetry waiting: first in, first out. Points lie in the sectors of the durable queue, if there is one, and in a ring in memory: the last of those
 * on flash, so that they need not be read, and all that are not there. Points are numbered in one row; what a batch held is forgotten by number, so that what
 * was dropped meanwhile does not take others with it.
 */
export class Outbox {
  /** What is in memory, and behind it in the same bytes the batch that is sent: what is moved within them is moved natively. */
  readonly ring: Ring;
  /** Longest text of a point's values, in bytes. */
  readonly maxText: number;
  readonly settings: TelemetrySettings;
  /** Undefined without blocks. */
  readonly hold: UnreadHold | undefined;
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _staging: Staging | undefined;
  private readonly _sectors: Sectors | undefined;
  private readonly _inMemory: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _onDrop: ((points: number, reason: DropReason) => void) | undefined;
  private _lostBefore = 0;
  private _reported = 0;
  /** Points that `step` is yet to read from flash. */
  private _unread = 0;
  constructor(host: Host, time: Time, options: TelemetryOptions) {
    this._host = host;
    this._time = time;
    this.settings = telemetrySettings(options);
    const { bufferBytes, batchBytes } = this.settings;
    this.ring = new Ring(new Uint8Array(bufferBytes + roomOf(batchBytes)), bufferBytes);
    if (host.blocks.size > 0) this._staging = this._stage();
    const sectors = this._staging?.sectors;
    this._sectors = sectors;
    if (this._staging) this.hold = new UnreadHold(host, time, this.ring, this._staging);
    const most = sectors?.usable || sectors?.log.broken ? Math.min(bufferBytes, sectors.most) : bufferBytes;
    this.maxText = Math.min((most & ~3) - POINT_HEAD, batchBytes - FRAME_BYTES);
  }

  /** Points waiting. */
  get waiting(): number {
    const { count, onFlash } = this.ring;
    return this._sectors ? count - onFlash + this._sectors.waiting : count;
  }

  /** Which part of its room is taken, about. */
  get fill(): number {
    return this._sectors?.usable ? this._sectors.fill : this.ring.used / this.ring.bytes.length;
  }

  /** The number of the first point waiting. */
  get first(): number {
    return this._sectors?.waiting ? this._sectors.state.confirmed + this._shift : this.ring.first;
  }

  /** The number that the next point gets. */
  get next(): number {
    return this.ring.next;
  }

  /** Points dropped since the durable queue began or, without one, since the start. */
  get dropped(): Drops {
    return this._sectors?.state ?? this._inMemory;
  }

  /** All points dropped, and how many of them were reported to the platform. */
  get drops(): number {
    const { full, refused, unreadable } = this.dropped;
    return full + refused + unreadable;
  }

  get reported(): number {
    return this._sectors?.state.reported ?? this._reported;
  }

  /** From now on `onDrop` is called when points are dropped; at once for those found unreadable at the start. */
  watch(onDrop: (points: number, reason: DropReason) => void): void {
    this._onDrop = onDrop;
    if (this._lostBefore > 0) onDrop(this._lostBefore, "unreadable");
    this._lostBefore = 0;
  }

  /**
   * Takes a point: the text of its values (`maxText` bytes at most), with the time stamp of the application or one of its own.
   * False: there is no room, and `drop` is "newest"; the point is counted as dropped.
   */
  append(text: Uint8Array, ts: Timestamp<"application"> | undefined): boolean {
    const { ring } = this;
    const length = POINT_HEAD + text.length;
    const free = this._sectors ? -1 : ring.reserve(whole(length));
    const at = free < 0 ? this._reserve(whole(length)) : free;
    if (at < 0) {
      this._drop(1, "full");
      return false;
    }
    if (ts === undefined) {
      const time = this._time;
      time.next();
      ring.put(at, time.kind, time.epoch, time.time, text, length);
    } else ring.put(at, GIVEN, 0, ts, text, length);
    this._staging?.added(at, at + whole(length));
    return true;
  }

  /** The next `step` comes to the first point waiting. No batch built before is under way any more. */
  rewind(): void {
    const { ring } = this;
    const sectors = this._sectors;
    const isHeld = this.hold?.look();
    this._unread = isHeld ? 1 : sectors ? sectors.waiting - ring.onFlash : 0;
    ring.rewind();
  }

  /** Goes to the next point, and says where it lies; undefined behind the last, and before what can't be read. */
  step(): Place | undefined {
    if (this._unread === 0) return this.ring.step() ? this.ring : undefined;
    const sectors = this._sectors as Sectors;
    if (this.hold?.on || !sectors.step()) return undefined;
    this._unread--;
    return sectors;
  }

  /** The platform took all points below `number`. */
  confirm(number: number): void {
    this._finish(DONE, number);
  }

  /** The platform will not have the points below `number`: they are dropped. */
  refuse(number: number): void {
    const points = this._finish(REFUSED, number);
    if (points > 0) this._onDrop?.(points, "refused");
  }

  /** `drops` in all were reported to the platform. */
  dropsReported(drops: number): void {
    this._reported = drops;
    this._sectors?.reported(drops);
    this._staging?.look();
  }

  /** Brings what is in memory only to the durable queue, if there is one. */
  sync(): void {
    this._staging?.sync();
  }

  /** Points that end with this run, as flash fails. */
  get atRisk(): number {
    return this._staging?.atRisk ?? 0;
  }

  /** The run ends, or may: keeps what it can. Returns the points that end with it uncounted, because neither flash nor store takes anything. */
  close(): number {
    return this._staging?.close() ?? 0;
  }

  /** Forgets all points, uncounted, and all that were dropped before; false if any stay on flash. */
  forget(): boolean {
    Object.assign(this.dropped, { full: 0, refused: 0, unreadable: 0 });
    this._reported = 0;
    this.ring.clear();
    return this._staging?.forget() !== false;
  }

  /** For what brings points to flash alone: points that were there are dropped. */
  flashDropped(points: number, reason: "full" | "unreadable"): void {
    this.ring.forget((this._sectors?.state.confirmed ?? 0) + this._shift);
    if (this._onDrop) this._onDrop(points, reason);
    else this._lostBefore += points;
    if (this._sectors?.log.behind) this._staging?.look();
  }

  private get _shift(): number {
    return this._staging?.shift ?? 0;
  }

  private _stage(): Staging {
    const staging = new Staging(this._host, this.ring, this.settings, this);
    const { sectors } = staging;
    if (!sectors.usable) return staging;
    const { lastStamp, epoch, tick } = sectors.state;
    this._time.restore(lastStamp, epoch, tick, sectors.waiting);
    const { waiting } = sectors;
    if (waiting > 0) this._host.log("info", `${waiting} points wait from before`);
    return staging;
  }

  /** Where in the ring a record of `length` bytes goes, or -1. */
  private _reserve(length: number): number {
    const { durable, drop } = this.settings;
    const sectors = this._sectors;
    if (sectors?.usable && (durable || this.ring.pending >= STAGE_BYTES))
      if (!sectors.place(length) && sectors.usable) return -1;
    let at = this.ring.reserve(length);
    if (at < 0) {
      this._staging?.makeRoom();
      at = this.ring.reserve(length);
    }
    for (; at < 0 && drop === "oldest"; at = this.ring.reserve(length)) {
      this.ring.shift();
      this._drop(1, "full");
    }
    return at;
  }

  private _finish(kind: typeof DONE | typeof REFUSED, number: number): number {
    const { ring, _sectors: sectors } = this;
    let onFlash = sectors?.finish(kind, number - this._shift) ?? 0;
    // Of a point that never was on flash only the next header would say that it was refused, and the power may go before: brought there it gets a status entry,
    // each before the next could take its room.
    if (kind === REFUSED && sectors)
      for (let next = ring.first + ring.onFlash + 1; next <= number; next++) {
        this._staging?.sync(false, next);
        onFlash += sectors.finish(kind, next - this._shift);
      }
    const inMemory = ring.forget(number);
    if (kind === REFUSED && inMemory > 0) this._count(inMemory, "refused");
    if (sectors?.log.behind) this._staging?.look();
    return onFlash + inMemory;
  }

  private _drop(points: number, reason: "full"): void {
    this._count(points, reason);
    this._onDrop?.(points, reason);
  }

  private _count(points: number, reason: "full" | "refused"): void {
    if (this._sectors) this._sectors.count(points, reason);
    else this._inMemory[reason] += points;
  }
}
