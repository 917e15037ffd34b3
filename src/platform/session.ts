// The session with the platform, shared by all loops: connections, access token, back-off, 401.

import type { Events } from "../events.js";
import { lost, NO_TURN, type Outcome, SILENCE, TOKEN_REFUSED, UNCONNECTED } from "../http/outcome.js";
import type { Request } from "../http/request.js";
import { bindingOf, type Target } from "../http/target.js";
import type { Host, Redactor } from "../port.js";
import type { Binding, Secret } from "../wire/secret.js";
import { SecretRedactor } from "../wire/text/redactor.js";
import type { Timestamp } from "../wire/timestamp.js";
import type { AbortSignalLike } from "./abort-signal.js";
import { ConnectionPool, paceOf, type RouteName } from "./connection-pool.js";
import { AgentCounters } from "./counters.js";
import { type Job, Loop } from "./loop.js";
import { PACES, type PaceName, WAITS_S, waitMs } from "./pace.js";
import { Pacer } from "./pacer.js";
import { EXCHANGE_MS } from "./requests.js";

/** Notified of events of the session. The agent, which this folder does not know, implements it. */
export interface SessionWatcher {
  /** The application makes a call that needs the session, even before `start()`. */
  callNeedsSession(): void;
  /**
   * The `Date` of an answer. Over http it can be forged, like all other data on that connection.
   */
  dated(ms: Timestamp<"server">): void;
  /**
   * The platform returned data that the agent had published. This proves the token; a 200 alone
   * does not, because the platform may not have sent it.
   */
  tokenProven(): void;
  /** The platform returned the marker of this version, on trial that of this start. */
  writeProven(): void;
  /**
   * The platform answered 401. The token is withdrawn until `authorize` sets it again or sets
   * another.
   */
  unauthorized(): void;
}

const POLLS: readonly RouteName[] = ["rpcPoll", "secondRpcPoll", "attributePoll", "secondAttributePoll"];
/** Statuses of a proxy whose server does not answer, and of a server whose database does not. */
const GATEWAY = [502, 503, 504];
/** Answers with these statuses alone are an outage after this time. */
const GATEWAY_MS = 45_000;
/** Maximum number of reasons reported for one outage. */
const MOST_REASONS = 8;
/** Free memory without which no request is begun, and the delay until the next look. */
export const ROOM_BYTES = 4096;
export const ROOM_MS = 1000;
/** Times that a text of the platform is in memory while it is read, handled and answered. */
const COPIES = 4;
/** Below the connection's queue limit: a request rejected there would count as a loss. */
const MAX_UNDER_WAY = 24;

/** A request to the device API; `path` follows `/api/v1/{token}/`. */
export type DeviceRequest = Request;

export class PlatformSession {
  readonly host: Host;
  readonly target: Target;
  /** Address and CAs that this session's secrets may be sent to. */
  readonly binding: Binding;
  /** Cleans everything that goes to people or to the platform's storage. */
  readonly redactor: Redactor;
  private readonly _events: Events;
  /** Use only for `external` and `hangUp`; other requests go through this session. */
  readonly connections: ConnectionPool;
  readonly loops: Loop[] = [];
  private readonly _pacers: { [P in PaceName]?: Pacer } = {};
  /** Losses since the last wait for the platform ended. */
  private _vainAttempts = 0;
  /** Time of the last loss. Requests in progress then belong to the same loss. */
  private _lossSince = -1;
  private _backoffUntil = 0;
  private _losses = 0;
  /** A request ended before the machine's first network. */
  private _waitsForNetwork = false;
  /** Time of the first 502, 503 or 504 since the platform accepted a request. */
  private _gatewaySince: number | undefined;
  /** Reasons reported since the platform was last reached. */
  private readonly _reasons: string[] = [];
  private readonly _waiting: (() => void)[] = [];
  #prefix: Secret | undefined;
  private _underWay = 0;
  private _quietSince = 0;
  /** False before `start()` and after `stop()`, which ends all loops. */
  running = false;
  readonly counters: AgentCounters;
  /** Undefined until the first answer or outage. */
  online: boolean | undefined;
  /** Time of the last answer. */
  answeredAt = -1;
  private _busy = false;
  /** Requests wait for memory. */
  private _isShort = false;
  /** Names of the application's functions that have not answered yet. */
  readonly applicationCalls: string[] = [];
  /** Why the platform refuses this device; undefined if it does not. */
  refusal: string | undefined;
  readonly watcher: SessionWatcher;

  /** `connections`: their number. */
  constructor(host: Host, target: Target, connections: 1 | 2 | 3, events: Events, watcher: SessionWatcher) {
    this.host = host;
    this.target = target;
    this.binding = bindingOf(target, host.authorities);
    this.watcher = watcher;
    this._events = events;
    this.redactor = host.redactor ?? new SecretRedactor();
    this.counters = new AgentCounters(host, events, this.redactor);
    this.connections = new ConnectionPool(host, target, connections, this.binding);
  }

  /** Creates a loop for `job`. It must be started, and ends when the session stops. */
  loop(name: string, job: Job): Loop {
    const loop = new Loop(this, name, job);
    this.loops.push(loop);
    return loop;
  }

  start(): void {
    this.running = true;
  }

  /** Ends all requests and wakes all loops. */
  stop(): void {
    this.running = false;
    this.connections.close();
    this._notifyAll();
    this.online = undefined;
    this._losses = 0;
    this._waitsForNetwork = false;
    this._gatewaySince = undefined;
    this._reasons.length = 0;
    this._vainAttempts = 0;
    this._backoffUntil = 0;
    // The next start sets the token.
    this.#prefix = undefined;
  }

  /** Sets the escaped path of the token, `/api/v1/TOKEN/`. Undefined: no token, requests wait. */
  authorize(prefix: Secret | undefined): void {
    this.#prefix = prefix;
    if (prefix) this._notifyAll();
  }

  ready(until: number, end = Number.POSITIVE_INFINITY, signal?: AbortSignalLike): Promise<void> {
    if (this.untilFreeMs(until) === 0) return Promise.resolve();
    const { clock } = this.host;
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      const check = () => {
        cancel?.();
        const left = Math.min(this.untilFreeMs(until) ?? end, end - clock.now());
        if (left <= 0 || signal?.aborted) {
          signal?.removeEventListener("abort", again);
          return resolve();
        }
        this._waiting.push(check);
        cancel = left === Number.POSITIVE_INFINITY ? undefined : clock.timer(left, again);
      };
      const again = () => this._notify(check);
      signal?.addEventListener("abort", again);
      check();
    });
  }

  /** The pacer of all routes with the same pace. */
  pacer(name: PaceName): Pacer {
    this._pacers[name] ??= new Pacer(this, PACES[name]);
    return this._pacers[name];
  }

  /**
   * Sends a request; never rejects. `prefix`: comes before the path instead of the token, for
   * provisioning.
   */
  send(route: RouteName, request: DeviceRequest, prefix?: Secret): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(route, request, prefix, resolve));
  }

  /**
   * Sends a request and calls `done` with its outcome; a pending promise would cost a board half a
   * KB. The pacer of `route` is told first.
   *
   * Jobs never see a 401 to the token: the session withdraws the token, and the request is `lost`
   * with TOKEN_REFUSED, so that the job sends it again when `ready()` finds a token. With its own
   * `prefix`, a 401 is `refused`.
   */
  dispatch(
    route: RouteName,
    request: DeviceRequest,
    ownPrefix: Secret | undefined,
    done: (outcome: Outcome) => void,
  ): void {
    const prefix = ownPrefix ?? this.#prefix;
    if (!this.running || prefix === undefined) {
      done(lost(this.running ? "no token" : "stopped"));
      return;
    }
    const since = this.host.clock.now();
    const poll = POLLS.includes(route);
    // Only a request that is not a poll and had the full time counts as evidence of an outage:
    // calls of the application may have short time-outs, and polls learn from silence.
    const patient = !poll && request.deadlineMs >= EXCHANGE_MS;
    if (!poll) this._underWay++;
    const sent = { ...request, credential: prefix };
    const pace = paceOf(route);
    const pacer = pace && this.pacer(pace);
    pacer?.spend();
    this.connections.connection(route).send(sent, (outcome) => {
      if (!poll) {
        this._underWay--;
        this._quietSince = this.host.clock.now();
      }
      const isBeforeNetwork = outcome.kind === "lost" && this.host.hasNetwork?.() === false;
      if (this.running && !isBeforeNetwork) this.counters.countOutcome(outcome, poll);
      // A listener of "error" may have stopped the session.
      if (this.running && isBeforeNetwork) this._waitForNetwork(since);
      else if (this.running) this._tryApply(outcome, since, prefix, patient, poll);
      pacer?.ended(outcome, since);
      done(ownPrefix === undefined && isUnauthorized(outcome) ? lost(TOKEN_REFUSED) : outcome);
    });
  }

  /**
   * True if the platform answered and nothing was lost since. "Busy" does not count: it may come
   * from a proxy.
   */
  get answers(): boolean {
    return !this._busy && (this.online === true || (this.answeredAt >= 0 && this._losses === 0));
  }

  /**
   * The machine's network is back: abandons old sockets and ends the back-off after a loss. The
   * random delays are only for fleets that lost the platform.
   */
  networkReturned(): void {
    if (!this.running || (this._losses === 0 && !this._waitsForNetwork)) return;
    this._waitsForNetwork = false;
    this.connections.renew();
    this._vainAttempts = 0;
    this._backoffUntil = 0;
    this._notifyAll();
  }

  /** ms since anything but polls was in progress; 0 while something is. */
  get quietMs(): number {
    return this._underWay > 0 ? 0 : this.host.clock.now() - this._quietSince;
  }

  /** True if so many requests are in progress that calls of the application must wait. */
  get crowded(): boolean {
    return this._underWay >= MAX_UNDER_WAY;
  }

  /** ms that the whole device waits for the platform. */
  get delayMs(): number {
    return Math.max(0, Math.ceil(this._backoffUntil - this.host.clock.now()));
  }

  /**
   * True if any request was answered in the second half of a poll sent at `since`. Always true with
   * one connection.
   */
  heard(since: number): boolean {
    return this.connections.sharesUplink || this.answeredAt > (since + this.host.clock.now()) / 2;
  }

  private _waitMs(tookMs: number): number {
    return waitMs(this.host, WAITS_S.unreachable, this._vainAttempts++, tookMs);
  }

  /** Implements `Shared` of the pacers. 0: a request may be sent now, or never again. */
  untilFreeMs(until: number): number | undefined {
    if (!this.running) return 0;
    if (this.#prefix === undefined) return undefined;
    const ms = Math.max(0, Math.ceil(Math.max(until, this._backoffUntil) - this.host.clock.now()));
    return ms === 0 && this._lacksMemory() ? ROOM_MS : ms;
  }

  /** False if memory is short for a text of `bytes` while it is read, handled and answered. */
  hasRoomFor(bytes: number): boolean {
    return this.host.hasRoom?.(COPIES * bytes) !== false;
  }

  /** A failed allocation would end the run, so nothing is begun that may need one. */
  private _lacksMemory(): boolean {
    const isShort = this.host.hasRoom?.(ROOM_BYTES) === false;
    if (isShort && !this._isShort) this.host.log("warn", "memory is short: requests wait until some is free");
    this._isShort = isShort;
    return isShort;
  }

  private _notify(check: () => void): void {
    const at = this._waiting.indexOf(check);
    if (at < 0) return;
    this._waiting.splice(at, 1);
    check();
  }

  /** Requests may be sent earlier than was said. */
  private _notifyAll(): void {
    for (const loop of this.loops) loop.notify();
    this._waiting.splice(0).forEach((check) => void check());
  }

  /** Never throws, because the caller still has to report the outcome. */
  private _tryApply(outcome: Outcome, since: number, prefix: Secret, patient: boolean, poll: boolean): void {
    try {
      this._applyOutcome(outcome, since, prefix, patient, poll);
    } catch {
      this.host.log("error", "session: an answer could not be processed");
    }
  }

  private _applyOutcome(
    outcome: Outcome,
    since: number,
    prefix: Secret,
    patient: boolean,
    poll: boolean,
  ): void {
    if (outcome.kind === "lost" && outcome.reason !== NO_TURN) this._lost(outcome.reason, since, patient);
    if (outcome.kind === "lost") return;
    // Polls end by 408 on a platform that works.
    if (!poll) this._busy = outcome.kind === "busy";
    const unknown = isUnauthorized(outcome);
    const isCurrent = prefix.equals(this.#prefix);
    // Before "online", because its listeners may need the platform's time.
    if (outcome.kind === "done" && outcome.date !== undefined) this.watcher.dated(outcome.date);
    const fromGateway = outcome.kind === "busy" && GATEWAY.includes(outcome.status);
    this._answered(since, isCurrent && !unknown && !fromGateway);
    if (fromGateway && !poll) this._gatewayAnswered(since, outcome.status);
    // Only for the current token: an old request may end after a new token was set.
    if (unknown && isCurrent) {
      this.authorize(undefined);
      this.watcher.unauthorized();
    }
  }

  /**
   * `served`: the platform accepted this device. Any answer ends the back-off, but only this means
   * online.
   */
  private _answered(since: number, served: boolean): void {
    const now = this.host.clock.now();
    this.answeredAt = now;
    this._losses = 0;
    // A request from before the loss may use a connection that still works although new ones fail.
    if (since > this._lossSince) this._vainAttempts = 0;
    if (this._backoffUntil !== 0) {
      this._backoffUntil = 0;
      this._notifyAll();
    }
    if (!served) return;
    this._gatewaySince = undefined;
    if (this.online === true) return;
    this.online = true;
    this._reasons.length = 0;
    this._events.emit("online", {});
  }

  /**
   * A proxy answered for the server, or the server for its database. Not an outage while it
   * restarts, and a poll may end so.
   */
  private _gatewayAnswered(since: number, status: number): void {
    this._gatewaySince ??= since;
    if (this.answeredAt - this._gatewaySince >= GATEWAY_MS)
      this._offline(`status ${status}: the server behind this address does not answer`);
  }

  /** The request ended before the machine's first network: no loss, but the next one waits. */
  private _waitForNetwork(since: number): void {
    this._waitsForNetwork = true;
    if (since <= this._lossSince) return;
    this._lossSince = this.host.clock.now();
    this._backoffUntil = this._lossSince + this._waitMs(0);
  }

  /** Reports each reason once until the platform answers. */
  private _offline(reason: string): void {
    this.online = false;
    const cleaned = this.redactor.clean(reason);
    if (this._reasons.includes(cleaned) || this._reasons.length >= MOST_REASONS) return;
    this._reasons.push(cleaned);
    this._events.emit("offline", { reason: cleaned });
  }

  /** `patient`: the request had the full time for an answer. */
  private _lost(reason: string, since: number, patient: boolean): void {
    const isNew = since > this._lossSince;
    const alone = patient && this.answeredAt <= since;
    const silent = alone && reason === SILENCE;
    // Requests that were in progress together fail together and count as one loss.
    if (isNew) {
      const now = this.host.clock.now();
      this._lossSince = now;
      this._backoffUntil = now + this._waitMs(silent || (alone && reason === UNCONNECTED) ? EXCHANGE_MS : 0);
      this._losses++;
    }
    // A single loss may be a closed connection. A second one is an outage, and so is silence
    // without any other answer.
    if ((this._losses >= 2 || silent) && (isNew || this.online !== false)) this._offline(reason);
  }
}

const isUnauthorized = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.status === 401;
