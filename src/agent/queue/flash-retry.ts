// What happens while the durable queue's flash can't be written, or could not be read at the start: when it is tried again, and what stands for its points in
// the small store meanwhile.
import type { Host } from "../../port.js";
import type { Sectors } from "./flash-log/flash-log.js";
import { SpareCount } from "./spare-count.js";

/** After a failed write it is tried again after so many seconds, and then every minute. */
const WAITS_S = [1, 2, 5, 10, 20, 30, 60];
/** After a failure that was reported, the next is reported so much later. */
const QUIET_MS = 600_000;
/** The count in the store is at most so old. */
const COUNT_MS = 1000;

/** The outbox. */
interface RetriedQueue {
  sync(): void;
  /** Points in memory only, as flash fails. */
  readonly atRisk: number;
}

export class FlashRetry {
  readonly spare: SpareCount;
  private readonly _host: Host;
  private readonly _queue: RetriedQueue;
  /** Which of the waits comes next, when it is over, and its timer. */
  private _tries = 0;
  private _dueAt = 0;
  private _triedAt = 0;
  private _timer: (() => void) | undefined;
  private _logged = false;
  private _loggedAt = Number.NEGATIVE_INFINITY;
  private _countTimer: (() => void) | undefined;

  constructor(host: Host, queue: RetriedQueue) {
    this._host = host;
    this._queue = queue;
    this.spare = new SpareCount(host);
  }

  /** Something may be written: nothing failed, or it is time to try again, and that worked: as the waits say, or `afterMs` after the last try. `last`: the run ends. */
  ready(sectors: Sectors, afterMs?: number, last = false): boolean {
    if (sectors.usable) return true;
    const now = this._host.clock.now();
    const due = afterMs === undefined ? this._dueAt : this._triedAt + afterMs;
    if (!sectors.log.broken || now < due) return false;
    // At once after the first failure, then ever more slowly.
    const wait = WAITS_S[Math.min(this._tries++, WAITS_S.length - 1)] as number;
    this._triedAt = now;
    this._dueAt = now + wait * 1000;
    sectors.retry(now, last);
    // It is tried as soon as it may erase, which may be all that it needs.
    const { eraseAt } = sectors.log;
    if (eraseAt > now && eraseAt < this._dueAt) this._dueAt = eraseAt;
    return sectors.usable;
  }

  /** After anything that may have failed, or have come through again. */
  look(sectors: Sectors): void {
    const { clock } = this._host;
    if (sectors.log.behind && this.spare.age < COUNT_MS)
      this._countTimer ??= clock.timer(COUNT_MS, () => {
        this._countTimer = undefined;
        this._count(sectors);
      });
    else this._count(sectors);
    if (!sectors.usable && sectors.log.broken)
      this._timer ??= clock.timer(this._wait(sectors), () => this._again());
    else this._cancel();
  }

  failed(): void {
    const now = this._host.clock.now();
    if (this._logged || now - this._loggedAt < QUIET_MS) return;
    this._logged = true;
    this._loggedAt = now;
    this._host.log("error", "the durable queue can't be written: points are kept in memory only");
  }

  healed(): void {
    this._tries = 0;
    this._dueAt = 0;
    if (this._logged) this._host.log("error", "the durable queue is written again");
    this._logged = false;
  }

  /** The run ends, or may. False if neither flash nor store has the count of what ends with it. */
  close(sectors: Sectors): boolean {
    this._cancel();
    return this._count(sectors);
  }

  private _wait({ log }: Sectors): number {
    const first = (WAITS_S[0] as number) * 1000;
    // What could not be read at the start may also wait for a batch that is under way.
    return Math.max(this._tries === 0 || log.unread ? first : 0, this._dueAt - this._host.clock.now());
  }

  private _again(): void {
    this._timer = undefined;
    this._queue.sync();
  }

  private _cancel(): void {
    this._timer?.();
    this._timer = undefined;
  }

  /** What flash can't take goes to the store; what the store does not take either to the next header. */
  private _count(sectors: Sectors): boolean {
    const { log } = sectors;
    const newest = log.unread ? -1 : log.state.sequence;
    if (!log.behind) return this.spare.clear();
    if (this.spare.keep(log.state, newest, this._queue.atRisk)) return true;
    if (!log.failing) sectors.openNext();
    return !log.behind;
  }
}
