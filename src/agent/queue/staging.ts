import type { Host } from "../../port.js";
import type { TelemetrySettings } from "../options/telemetry.js";
import { Sectors } from "./flash-log/flash-log.js";
import type { SectorState } from "./flash-log/sector-header.js";
import type { SectorsListener } from "./flash-log/watcher.js";
import { FlashRetry } from "./flash-retry.js";
import { whole } from "./log-entry.js";
import type { Ring } from "./ring-buffer.js";

/** While flash fails and memory is full it is tried so often at most. */
const URGENT_MS = 1000;
/** Longer than this nobody is held up, however slow the flash is. */
const SYNC_MS = 2000;
/** With `durable: false` points are in memory only for as long, or up to as many bytes. */
const STAGE_MS = 1000;
export const STAGE_BYTES = 4096;

/** The outbox. */
interface StagingListener {
  /** Points that were on flash went for want of room, or because they can't be read. */
  flashDropped(points: number, reason: "full" | "unreadable"): void;
}

/** What looks after sectors that could not be read at the start. */
interface LateRead {
  /** No batch is under way whose points were numbered before. */
  readonly quiet: boolean;
  /** They were read. */
  reopened(): void;
}

/** Brings points from memory to flash, at once or soon, and again if flash fails. */
export class Staging implements SectorsListener {
  readonly sectors: Sectors;
  /** Number of a point minus its number in the sectors. */
  shift = 0;
  private readonly _host: Host;
  private readonly _ring: Ring;
  private readonly _durable: boolean;
  private readonly _listener: StagingListener;
  private readonly _flash: FlashRetry;
  private _timer: (() => void) | undefined;
  /** Set by itself. */
  hold: LateRead | undefined;
  /** Drops of this run that were counted before the sectors could be read. */
  private _ran = { full: 0, refused: 0 };

  constructor(host: Host, ring: Ring, { durable, drop }: TelemetrySettings, listener: StagingListener) {
    this._host = host;
    this._ring = ring;
    this._durable = durable;
    this._listener = listener;
    this._flash = new FlashRetry(host, this);
    const { spare } = this._flash;
    this.sectors = new Sectors(host.blocks, drop === "oldest", this);
    const { log } = this.sectors;
    if (log.unread) {
      spare.restore(log.state, -1);
      this.look();
    } else if (!log.behind) spare.clear();
  }

  // As the sectors' listener: methods of this one, as a function made for each would take a board ten slots.

  log(line: string): void {
    this._host.log("error", line);
  }

  failed(): void {
    this._flash.failed();
  }

  healed(): void {
    this._flash.healed();
  }

  opened(state: SectorState): boolean {
    this.shift = this._ring.first - state.next;
    const isNews = this._flash.spare.restore(state, state.sequence);
    const { full, refused } = this._ran;
    state.full += full;
    state.refused += refused;
    return isNews || full + refused > 0;
  }

  dropped(points: number, reason: "full" | "unreadable"): void {
    this._listener.flashDropped(points, reason);
  }

  /** A record, `from` to `to` in the ring, was added. */
  added(from: number, to: number): void {
    const { sectors } = this;
    if (sectors.usable && !this._durable && this._ring.pending < STAGE_BYTES)
      this._timer ??= this._host.clock.timer(STAGE_MS, () => {
        this._timer = undefined;
        this.sync();
      });
    else if (this._ring.count - this._ring.onFlash > 1 || !sectors.place(to - from)) this.sync();
    else if (!this._write(from, to, 1)) this.look();
  }

  /** Brings all below `number` to flash. `last`: the run ends, so that it is tried whenever it was tried before. */
  sync(last = false, number = this._ring.next): void {
    if (this._ready(last ? 0 : undefined, last)) this._bring(number);
    this.look();
  }

  /** Before points go for want of room it is tried once more, though it may not be time. */
  makeRoom(): void {
    if (this._ready(URGENT_MS)) this._bring(this._ring.next);
  }

  /** Points that end with this run, as flash fails. */
  get atRisk(): number {
    return this.sectors.log.broken ? this._ring.count - this._ring.onFlash : 0;
  }

  /** The run ends, or may. Returns the points that end with it uncounted, because neither flash nor store takes anything. */
  close(): number {
    this.sync(true);
    return this._flash.close(this.sectors) ? 0 : this.atRisk;
  }

  /** After anything that may have failed, or have come through again. */
  look(): void {
    this._flash.look(this.sectors);
  }

  /** Forgets all; false if any stays on flash or in the store. */
  forget(): boolean {
    this.shift = this._ring.first;
    return this.sectors.forget() && this._flash.spare.clear();
  }

  private _ready(afterMs?: number, last = false): boolean {
    const { log } = this.sectors;
    const { unread } = log;
    if (unread && !last && !this.hold?.quiet) return false;
    if (unread) this._ran = this._flash.spare.ofThisRun(log.state);
    const isReady = this._flash.ready(this.sectors, afterMs, last);
    if (unread && !log.unread) this.hold?.reopened();
    return isReady;
  }

  private _bring(number: number): void {
    const { _ring: ring, sectors } = this;
    const { clock } = this._host;
    const end = clock.now() + SYNC_MS;
    while (ring.first + ring.onFlash < number && clock.now() < end) {
      ring.seek();
      ring.step();
      const from = ring.at;
      let to = whole(ring.end);
      if (!sectors.place(to - from)) return;
      let points = 1;
      const most = number - ring.first - ring.onFlash;
      while (points < most && ring.step() && ring.at === to && whole(ring.end) - from <= sectors.room) {
        to = whole(ring.end);
        points++;
      }
      if (!this._write(from, to, points)) return;
    }
  }

  /** False if the points, `from` to `to` in the ring, are in memory only as before. */
  private _write(from: number, to: number, points: number): boolean {
    const { _ring: ring, sectors } = this;
    this.shift = ring.first + ring.onFlash - sectors.state.next;
    const written = sectors.append(ring, from, to);
    if (written) ring.keep(points, to);
    return written;
  }
}
