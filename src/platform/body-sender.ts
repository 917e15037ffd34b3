// Sends bodies that are repeated until the platform accepts them, in parts if need be: points and
// client attributes. One table decides from an outcome how the next body is sent.
//
// A firewall or a proxy may reset the connection, or never answer, on a body that it dislikes. Sent
// again, the same body is lost again, and everything behind it waits. So after each loss of a body,
// a small request tests whether the platform answers at all. If it does, time after time, the body
// counts as refused, as if by 413.
//
// A single point or attribute that is refused is dropped only if it is refused again right after
// the platform accepted a probe, a small one. Otherwise the address, the token, a proxy or the
// platform is the problem, and everything is kept.

import { type Outcome, UNANSWERED } from "../http/outcome.js";
import type { RouteName } from "./connection-pool.js";
import { LOST_BODY_MS, type PaceName } from "./pace.js";
import type { Pacer } from "./pacer.js";
import { CONTENT, PROBE, statusText, TOO_LARGE } from "./requests.js";
import type { DeviceRequest, PlatformSession } from "./session.js";

/**
 * - `size` of the next body: `half` of this one; after `slowly` it grows back slowly, because this
 *   one may have been too large.
 * - Then, with `several` points or attributes in the body, or `one`:
 *   `again` at once; `later`, with the route's next wait or after Retry-After; `hold`: with the
 *   route's waits for refusals; `blame`: drop or probe; `suspect`: later, and if that lasts, blame.
 */
const RULES = {
  done: { size: "more", several: "accepted", one: "accepted" },
  lost: { size: "same", several: "again", one: "again" },
  /** No answer for SLOW_MS. */
  slow: { size: "slowly", several: "again", one: "again" },
  /** 429, 500: a smaller body may pass an exhausted rate limit at once. */
  limited: { size: "slowly", several: "again", one: "suspect" },
  /** 408, 502, 503, 504: also from a server that never ends with this body, and its proxy. */
  busy: { size: "slowly", several: "later", one: "suspect" },
  /** 413, or connections without an answer. */
  tooLarge: { size: "slowly", several: "again", one: "blame" },
  /** 400, 403, 422, 500 with a text. */
  refused: { size: "half", several: "again", one: "blame" },
  /** Other statuses: the address is wrong, or a proxy answered. */
  misplaced: { size: "same", several: "hold", one: "hold" },
} as const;

type Result = keyof typeof RULES;

/** What became of a body: `again`: the caller sends it again, at most `size` of it. */
export type Fate = "accepted" | "again" | "drop";

/** The job whose bodies are sent. An object, because a closure costs a board more. */
export interface ProbingJob {
  /** A request that the platform accepts if it accepts any. */
  probe(): DeviceRequest;
}

/** State saved for the next wake of a sleeping device. */
export interface BodyMemory {
  /** `size`; 0: not limited. */
  limit: number;
  /** Losses of the last body, or `BUSY` and how often the platform was too busy for it. */
  losses: number;
  /** ms since the last probe of an outage; 0: no outage. */
  probed: number;
}

/** Successful requests before a size found by "busy" is raised a little. */
const PASSES_BEFORE_GROWTH = 4;
/** A body without an answer for this time may be too large for the link or the platform. */
const SLOW_MS = 15_000;
/** Statuses of an exhausted rate limit. */
const BUCKET = [429, 500];
/** Losses after which a body of several is refused, which is then sent in parts. */
const SOME_LOSSES = 3;
/**
 * Losses after which a single one is refused, which may then be dropped. On a link that loses half
 * of all requests, one body in a million reaches this number with an answered test after each loss.
 */
const MANY_LOSSES = 10;
/** So many bytes of a body may take as long as the test, which is about three times as long. */
const TEST_BYTES = 50;
/** Limit of a body's deadline on a slow link, in times of its usual one. */
const MOST_PATIENCE = 5;
/** An accepted probe is evidence against a body that is sent within this time after it. */
const FRESH_MS = 10_000;
/** While probes are refused too, send at most one in this time. */
const PROBE_MS = 60_000;
/**
 * A single body that the platform was too busy for ten times, and during this time, may be larger
 * than a rate limit, or keep the platform from answering: then it never passes, and probes decide.
 */
const BUSY_MS = 600_000;
/**
 * So often in a row a probe must be accepted and the body be refused after it: a platform that is
 * too busy for most requests accepts a probe now and then.
 */
const BUSY_PROBES = 5;
/** Added to a number of busy answers. */
const BUSY = 100;
/** Log at most one line in this time. */
const QUIET_MS = 3_600_000;

export class BodySender {
  /** Points or attributes of the next body, at most. */
  size: number;
  /** Everything is refused, so nothing is dropped. */
  outage = false;
  private readonly _session: PlatformSession;
  private readonly _route: RouteName & PaceName;
  private readonly _pacer: Pacer;
  private readonly _most: number;
  private readonly _job: ProbingJob;
  private _result: Result = "done";
  /** Status of the last refusal. */
  private _status = 0;
  private _passed = 0;
  private _growsFast = false;
  /** The last body: of a single one its name. Undefined after a wake. */
  private _name: string | undefined;
  /** Losses of the last body, each with an answered test after it. */
  private _losses = 0;
  /** Duration of the last test. */
  private _testMs = 0;
  /** How often in a row the platform was too busy for the last body, a single one; since when. */
  private _busy = 0;
  private _busySince = Number.NEGATIVE_INFINITY;
  private _probedAt = Number.NEGATIVE_INFINITY;
  /** Time of an accepted probe, for the body that is sent next. */
  private _vouchedAt = Number.NEGATIVE_INFINITY;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  /** `most`: largest `size`. */
  constructor(session: PlatformSession, route: RouteName & PaceName, most: number, job: ProbingJob) {
    this._session = session;
    this._route = route;
    this._pacer = session.pacer(route);
    this._most = most;
    this._job = job;
    this.size = most;
  }

  /** True if the platform was too busy for the last body. */
  get isBusy(): boolean {
    return this._result === "limited" || this._result === "busy";
  }

  /** Sends a body of `count` points or attributes; `name` tells a single one from others. */
  send(request: DeviceRequest, count: number, name: string): Promise<Fate> {
    const { _session: session } = this;
    const own = count > 1 ? "" : name;
    if (own !== (this._name ?? own)) this._changed();
    this._name = own;
    const sentAt = this._now;
    const deadlineMs = Math.min(this._patientMs(request), session.connections.longestBodyMs);
    return session.send(this._route, { ...request, deadlineMs }).then((outcome) => {
      const tookMs = this._now - sentAt;
      if (outcome.kind !== "lost") this._losses = 0;
      if (outcome.kind !== "lost" || !outcome.sent || !session.running)
        return this._judge(outcome, count, sentAt, tookMs);
      return this._pacer
        .ready()
        .then(() => this._test(request, outcome, tookMs))
        .then((tested) => this._judge(tested, count, sentAt, tookMs));
    });
  }

  /** A link on which the test was slow needs longer for a large body. Meanwhile others wait. */
  private _patientMs({ deadlineMs, body }: DeviceRequest): number {
    const linkMs = this._testMs * (1 + (body?.length ?? 0) / TEST_BYTES);
    return Math.min(Math.max(deadlineMs, linkMs), MOST_PATIENCE * deadlineMs);
  }

  private _judge(outcome: Outcome, count: number, sentAt: number, tookMs: number): Fate | Promise<Fate> {
    const { _session: session } = this;
    const isSlow = tookMs >= Math.min(SLOW_MS, session.connections.longestBodyMs);
    const result = resultOf(outcome, isSlow);
    const rule = RULES[result];
    // An outage meanwhile says nothing about this body.
    if (outcome.kind === "lost" && this._losses === 0) this._busy = 0;
    this._result = result;
    this._status = outcome.kind === "refused" ? outcome.status : UNANSWERED;
    this._resize(rule.size, count);
    const next = count > 1 ? rule.several : rule.one;
    if (next === "accepted") {
      this._changed();
      this._accepted();
      return "accepted";
    }
    if (!session.running) return "again";
    if (next === "hold") return this._hold();
    if (next === "blame" || (next === "suspect" && this._isBusyForLong())) return this._blame(sentAt);
    const isTimed = outcome.kind === "busy" && outcome.retryAfterMs !== undefined;
    if (next !== "again" || isTimed) this._pacer.slow(outcome);
    return "again";
  }

  /** The next body is another one. */
  private _changed(): void {
    this._losses = this._testMs = this._busy = 0;
    this._vouchedAt = Number.NEGATIVE_INFINITY;
  }

  private _resize(size: (typeof RULES)[Result]["size"], count: number): void {
    if (size === "same") return;
    if (size !== "more") {
      this._passed = 0;
      this._growsFast = size === "half";
      this.size = Math.max(1, count >> 1);
      return;
    }
    if (!this._growsFast && ++this._passed < PASSES_BEFORE_GROWTH) return;
    this._passed = 0;
    const more = this._growsFast ? this.size : Math.ceil(this.size / 4);
    this.size = Math.min(this._most, this.size + more);
  }

  /** Sends the test after a loss that took `tookMs`. */
  private _test({ body }: DeviceRequest, outcome: Lost, tookMs: number): Promise<Outcome> {
    let sentAt = this._now;
    const sent = () => {
      sentAt = this._now;
    };
    return this._session.send(this._route, { ...PROBE, sent }).then((answer) => {
      this._testMs = this._now - sentAt;
      this._losses = answer.kind === "done" ? this._losses + 1 : 0;
      if (answer.kind === "busy") this._pacer.after(answer);
      if (answer.kind !== "done") return outcome;
      // The session is online, so its event `offline` does not tell the reason.
      const what = `${body?.length} bytes were lost again and again (${outcome.reason})`;
      if (this._losses >= SOME_LOSSES)
        this._log("warn", `${what}, but the platform answers smaller requests`);
      if (this._losses >= (this._name === "" ? SOME_LOSSES : MANY_LOSSES)) return NO_ANSWER;
      const pauseMs = LOST_BODY_MS[Math.min(this._losses, LOST_BODY_MS.length) - 1] as number;
      if (tookMs < pauseMs) this._pacer.pause(pauseMs);
      return outcome;
    });
  }

  /** The platform was too busy for the last body, a single one. */
  private _isBusyForLong(): boolean {
    if (this._busy++ === 0) this._busySince = this._now;
    return this._busy >= MANY_LOSSES && this._now - this._busySince >= BUSY_MS;
  }

  /**
   * Is the single body at fault that was sent at `sentAt`, or does the platform refuse everything?
   */
  private _blame(sentAt: number): Fate | Promise<Fate> {
    const { _session: session } = this;
    const isProven = !this.isBusy || this._busy >= MANY_LOSSES + BUSY_PROBES;
    if (isProven && sentAt - this._vouchedAt <= FRESH_MS) {
      this._changed();
      return "drop";
    }
    if (this.outage && this._now - this._probedAt < PROBE_MS) return this._hold();
    this._probedAt = this._now;
    return this._pacer.ready().then(() => {
      if (!session.running) return "again";
      return session.send(this._route, this._job.probe()).then((outcome) => this._probed(outcome));
    });
  }

  private _probed(outcome: Outcome): Fate {
    if (outcome.kind !== "done") this._busy = 0;
    const isSilent = outcome.kind === "lost" && this._status === UNANSWERED;
    if (outcome.kind === "refused" || isSilent) {
      this.outage = true;
      return this._hold();
    }
    // The body is sent once more. After a lost probe, that repeats the refusal.
    if (outcome.kind === "busy") this._pacer.after(outcome);
    if (outcome.kind !== "done") return "again";
    this._accepted();
    this._vouchedAt = this._now;
    return "again";
  }

  private _accepted(): void {
    this._pacer.clear();
    this.outage = false;
  }

  private _hold(): Fate {
    const what = `${this._route} with ${statusText(this._status)}`;
    this._log("error", `the platform refuses ${what}: check the base URL; nothing is dropped`);
    this._pacer.hold();
    return "again";
  }

  private _log(level: "warn" | "error", line: string): void {
    if (this._now - this._loggedAt < QUIET_MS) return;
    this._loggedAt = this._now;
    const { host, redactor } = this._session;
    host.log(level, redactor.clean(line));
  }

  /** Restores the state after a sleep of `sleptMs`. */
  wake({ limit, losses, probed }: BodyMemory, sleptMs: number): void {
    if (limit >= 1 && limit < this._most) {
      this._growsFast = limit === 1;
      this.size = limit;
    }
    if (losses < BUSY) this._losses = losses;
    else this._busy = losses - BUSY;
    if (this.size > 1) this._name = "";
    if (probed === 0) return;
    this.outage = true;
    this._loggedAt = this._now;
    this._probedAt = this._now - probed - sleptMs;
  }

  /** Saves the state before a sleep. */
  sleep(memory: BodyMemory): void {
    const isLimited = this.size < this._most && (this.size === 1 || !this._growsFast);
    memory.limit = isLimited ? this.size : 0;
    memory.losses = this._busy > 0 ? BUSY + this._busy : this._losses;
    memory.probed = this.outage ? Math.max(1, Math.ceil(this._now - this._probedAt)) : 0;
  }

  private get _now(): number {
    return this._session.host.clock.now();
  }
}

type Lost = Outcome & { kind: "lost" };

const NO_ANSWER: Outcome = { kind: "refused", status: UNANSWERED, body: new Uint8Array(0) };

const resultOf = (outcome: Outcome, isSlow: boolean): Result => {
  if (outcome.kind === "done") return "done";
  if (outcome.kind === "lost") return isSlow ? "slow" : "lost";
  const { kind, status } = outcome;
  if (kind === "busy") return BUCKET.includes(status) ? "limited" : "busy";
  if (!CONTENT.includes(status)) return "misplaced";
  return TOO_LARGE.includes(status) ? "tooLarge" : "refused";
};
