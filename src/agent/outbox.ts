import type { Host } from "../port.js";
import { FRAME_BYTES } from "../wire/telemetry.js";
import { writerBytes } from "./batch.js";
import type { DropReason, Drops } from "./drop-teller.js";
import { DONE, GIVEN, POINT_HEAD, REFUSED, whole } from "./record.js";
import { Ring } from "./ring.js";
import { Sectors } from "./sectors.js";
import { type TelemetryOptions, type TelemetrySettings, telemetrySettings } from "./telemetry-options.js";
import type { Time } from "./time.js";

/** With `durable: false` points are in memory only for as long, or up to as many bytes. */
const STAGE_MS = 1000;
const STAGE_BYTES = 4096;

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
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _settings: TelemetrySettings;
  private readonly _sectors: Sectors | undefined;
  private readonly _inMemory: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _onDrop: ((points: number, reason: DropReason) => void) | undefined;
  private _lostBefore = 0;
  private _told = 0;
  /** Number of a point minus its number in the sectors. */
  private _shift = 0;
  /** Points that `step` is yet to read from flash. */
  private _unread = 0;
  private _timer: (() => void) | undefined;

  constructor(host: Host, time: Time, options: TelemetryOptions) {
    this._host = host;
    this._time = time;
    this._settings = telemetrySettings(options);
    const { bufferBytes, batchBytes } = this._settings;
    this.ring = new Ring(new Uint8Array(bufferBytes + writerBytes(batchBytes)), bufferBytes);
    if (host.blocks.size > 0) this._sectors = this._openSectors();
    const most = this._sectors?.usable ? Math.min(bufferBytes, this._sectors.most) : bufferBytes;
    this.maxText = Math.min((most & ~3) - POINT_HEAD, batchBytes - FRAME_BYTES);
  }

  /** Points waiting. */
  get waiting(): number {
    const { count, kept } = this.ring;
    return this._sectors ? count - kept + this._sectors.waiting : count;
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

  /** All points dropped, and of how many of them the platform was told. */
  get drops(): number {
    const { full, refused, unreadable } = this.dropped;
    return full + refused + unreadable;
  }

  get told(): number {
    return this._sectors?.state.told ?? this._told;
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
  append(text: Uint8Array, ts: number | undefined): boolean {
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
      ring.put(at, time.kind, time.era, time.time, text, length);
    } else ring.put(at, GIVEN, 0, ts, text, length);
    if (this._sectors) this._stage(at, at + whole(length));
    return true;
  }

  /** The next `step` comes to the first point waiting. */
  rewind(): void {
    const { ring } = this;
    const sectors = this._sectors;
    sectors?.rewind(sectors.state.next - ring.kept);
    this._unread = sectors ? sectors.waiting - ring.kept : 0;
    ring.rewind();
  }

  /** Goes to the next point, and says where it lies; undefined behind the last, and before what can't be read. */
  step(): Place | undefined {
    if (this._unread === 0) return this.ring.step() ? this.ring : undefined;
    const sectors = this._sectors as Sectors;
    if (!sectors.step()) return undefined;
    this._unread--;
    return sectors;
  }

  /** The platform took all points below `number`. */
  confirm(number: number): void {
    this._settle(DONE, number);
  }

  /** The platform will not have the points below `number`: they are dropped. */
  refuse(number: number): void {
    const points = this._settle(REFUSED, number);
    if (points > 0) this._onDrop?.(points, "refused");
  }

  /** The platform was told of `drops` in all. */
  tell(drops: number): void {
    this._told = drops;
    this._sectors?.told(drops);
  }

  /** Brings what is in memory only to the durable queue, if there is one. */
  sync(): void {
    const { ring } = this;
    const sectors = this._sectors;
    if (!sectors?.usable) return;
    while (ring.count > ring.kept) {
      ring.seek();
      ring.step();
      const from = ring.at;
      let to = whole(ring.end);
      if (!sectors.place(to - from)) return;
      let points = 1;
      while (ring.step() && ring.at === to && whole(ring.end) - from <= sectors.room) {
        to = whole(ring.end);
        points++;
      }
      if (!this._write(sectors, from, to, points)) return;
    }
  }

  /** Forgets all points, uncounted, and all that were dropped before; false if any stay on flash. */
  forget(): boolean {
    Object.assign(this.dropped, { full: 0, refused: 0, unreadable: 0 });
    this._told = 0;
    this.ring.clear();
    this._shift = this.ring.first;
    return this._sectors?.forget() !== false;
  }

  private _openSectors(): Sectors {
    const sectors = new Sectors(this._host.blocks, this._settings.drop === "oldest", {
      tell: (line) => this._host.log("error", line),
      dropped: (points, reason) => {
        this.ring.forget((this._sectors?.state.confirmed ?? 0) + this._shift);
        if (this._onDrop) this._onDrop(points, reason);
        else this._lostBefore += points;
      },
    });
    if (!sectors.usable) return sectors;
    const { lastStamp, era, tick, next } = sectors.state;
    this._time.restore(lastStamp, era, tick, sectors.waiting);
    this._shift = -next;
    if (sectors.waiting > 0) this._host.log("info", `${sectors.waiting} points wait from before`);
    return sectors;
  }

  /** Where in the ring a record of `length` bytes goes, or -1. */
  private _reserve(length: number): number {
    const { durable, drop } = this._settings;
    const sectors = this._sectors;
    if (sectors?.usable && (durable || this.ring.pending >= STAGE_BYTES))
      if (!sectors.place(length) && sectors.usable) return -1;
    let at = this.ring.reserve(length);
    if (at < 0) {
      this.sync();
      at = this.ring.reserve(length);
    }
    for (; at < 0 && drop === "oldest"; at = this.ring.reserve(length)) {
      this.ring.shift();
      this._drop(1, "full");
    }
    return at;
  }

  /** A record, `from` to `to` in the ring, is to go to flash, at once or soon. */
  private _stage(from: number, to: number): void {
    const sectors = this._sectors as Sectors;
    if (!sectors.usable && !sectors.ready(this._host.clock.now())) return;
    if (!this._settings.durable && this.ring.pending < STAGE_BYTES)
      this._timer ??= this._host.clock.timer(STAGE_MS, () => {
        this._timer = undefined;
        this.sync();
      });
    else if (this.ring.count - this.ring.kept > 1 || !sectors.place(to - from)) this.sync();
    else this._write(sectors, from, to, 1);
  }

  /** False if the points, `from` to `to` in the ring, are in memory only as before. */
  private _write(sectors: Sectors, from: number, to: number, points: number): boolean {
    const { ring } = this;
    this._shift = ring.first + ring.kept - sectors.state.next;
    const written = sectors.append(ring, from, to);
    if (written) ring.keep(points, to);
    return written;
  }

  private _settle(kind: typeof DONE | typeof REFUSED, number: number): number {
    const onFlash = this._sectors?.settle(kind, number - this._shift) ?? 0;
    const inMemory = this.ring.forget(number);
    if (kind === REFUSED) this.dropped.refused += inMemory;
    return onFlash + inMemory;
  }

  private _drop(points: number, reason: "full"): void {
    this.dropped[reason] += points;
    this._onDrop?.(points, reason);
  }
}
