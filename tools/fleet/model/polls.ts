// A device's long polls: for RPCs, of which the next opens before the last ends, and with three connections for shared attributes.
import {
  OVERLAP_MS,
  PATIENCE_MS,
  QUIET_MS,
  SHARED_POLL_MS,
  SHORT_POLL_MS,
} from "../../../src/agent/rpc/polls.js";
import type { Outcome } from "../../../src/http/outcome.js";
import { delay, FIRST_MS, LONGEST_MS } from "../../../src/platform/backoff.js";
import type { PollTiming } from "../../../src/platform/poll-timing.js";
import type { Host } from "../../../src/port.js";
import type { DeviceConfig } from "./device-config.js";
import type { Load } from "./load.js";
import type { Pair } from "./sizes.js";
import type { Uplink } from "./uplink.js";

const NEVER = Number.POSITIVE_INFINITY;
/** It lasted as long as it asked for; the platform ended it before; its connection broke. */
const LASTED: Outcome = { kind: "busy", status: 408, retryAfterMs: undefined };
const CUT_SHORT: Outcome = { kind: "busy", status: 503, retryAfterMs: undefined };
const LOST: Outcome = { kind: "lost", reason: "connection reset" };

/** What the polls of one device share. */
export interface PollParts {
  readonly config: DeviceConfig;
  readonly load: Load;
  readonly host: Pick<Host, "random">;
  readonly uplink: Uplink;
  readonly timing: PollTiming;
}

interface Open {
  readonly sentAt: number;
  readonly askedMs: number;
  /** When the device has its end. */
  readonly endAt: number;
  readonly answer: number;
  readonly lasts: boolean;
}

abstract class Polls {
  protected readonly parts: PollParts;
  protected readonly open: Open[] = [];
  /** The last poll that ended was lost. */
  protected isLost = false;

  constructor(parts: PollParts) {
    this.parts = parts;
  }

  protected get askedMs(): number {
    const { timing, host } = this.parts;
    return this.isLost ? timing.afterLoss(host) : timing.askedMs;
  }

  /** Asks on a connection that is there at `sentAt`. */
  protected ask(sentAt: number, askedMs: number, sizes: (askedMs: number, lasts: boolean) => Pair): Open {
    const { config, load } = this.parts;
    const lasts = askedMs <= config.pollLimitMs;
    const { request, answer } = sizes(askedMs, lasts);
    load.request(sentAt + config.latencyMs, request);
    const endAt = sentAt + 2 * config.latencyMs + Math.min(askedMs, config.pollLimitMs);
    const open = { sentAt, askedMs, endAt, answer, lasts };
    this.open.push(open);
    return open;
  }

  /** The first of those open ended; the platform closes its connection with that. */
  protected end(at: number): Open | undefined {
    const { load, config, timing, uplink } = this.parts;
    const ended = this.open.shift();
    if (!ended) return undefined;
    const { sentAt, askedMs, lasts, answer } = ended;
    load.answer(at - config.latencyMs, answer);
    if (askedMs > SHORT_POLL_MS) timing.judge(lasts ? LASTED : CUT_SHORT, at - sentAt, true, askedMs);
    this.isLost = false;
    uplink.heardAt = at;
    return ended;
  }

  /** All connections break. Returns for how long the next poll waits at least, in ms: where others were answered meanwhile, a back-off of its own. */
  lose(at: number): number {
    const { config, load, host, timing, uplink } = this.parts;
    let heldMs = 0;
    for (const { sentAt, askedMs } of this.open.splice(0)) {
      if (config.connections > 1) load.closed(at);
      timing.judge(LOST, at + config.latencyMs - sentAt, true, askedMs);
      if (uplink.heardAt > sentAt && uplink.heardAt < at)
        heldMs = Math.max(heldMs, delay(host, FIRST_MS, LONGEST_MS));
    }
    this.isLost = true;
    return heldMs;
  }
}

export class RpcPolls extends Polls {
  #openAt = 0;
  #endedAt = 0;

  /** `failedAt`: when the last attempt was lost. */
  startAt(at: number, failedAt: number): void {
    this.#openAt = at;
    this.#endedAt = failedAt;
  }

  /** When the next one opens or the first of those open ends. */
  get dueAt(): number {
    return Math.min(this.#nextAt(), this.open[0]?.endAt ?? NEVER);
  }

  /** True if a poll ended. */
  turn(at: number): boolean {
    if (this.open[0]?.endAt === at) {
      this.end(at);
      if (this.parts.config.connections === 1) this.parts.uplink.close(at);
      else this.parts.load.closed(at);
      this.#endedAt = this.#openAt = at;
      return true;
    }
    const { config, uplink } = this.parts;
    const { rpcPoll } = config.sizes;
    if (config.connections > 1) this.ask(uplink.connect(at), this.askedMs, rpcPoll);
    else uplink.freeAt = this.ask(uplink.poll(at), this.#sharedMs(at), rpcPoll).endAt;
    return false;
  }

  #nextAt(): number {
    const { config, uplink } = this.parts;
    const [first, second] = this.open;
    if (config.connections > 1) {
      if (second) return NEVER;
      return first ? Math.max(this.#endedAt, first.sentAt + first.askedMs - OVERLAP_MS) : this.#openAt;
    }
    if (first) return NEVER;
    const quietAt = Math.max(uplink.quietAt, this.#endedAt) + QUIET_MS;
    return Math.max(this.#openAt, Math.min(quietAt, this.#endedAt + PATIENCE_MS));
  }

  /** With one connection. */
  #sharedMs(at: number): number {
    return at < this.parts.uplink.quietAt + QUIET_MS ? SHORT_POLL_MS : Math.min(SHARED_POLL_MS, this.askedMs);
  }
}

export class UpdatesPolls extends Polls {
  dueAt = NEVER;
  /** No poll came through since the last loss. */
  isBlocked = false;

  startAt(at: number): void {
    this.dueAt = at;
  }

  /** When it was sent; undefined: one ended, and the next is due. */
  turn(at: number): number | undefined {
    if (this.end(at)) {
      this.parts.load.closed(at);
      this.isBlocked = false;
      this.dueAt = at;
      return undefined;
    }
    const { uplink, config } = this.parts;
    const { sentAt, endAt } = this.ask(uplink.connect(at), this.askedMs, config.sizes.updatesPoll);
    this.dueAt = endAt;
    return sentAt;
  }

  override lose(at: number): number {
    this.isBlocked = true;
    this.dueAt = NEVER;
    return super.lose(at);
  }
}
