// The way to the platform that all loops share: connections by mode, the access token, the back-off while it can't be reached.

import type { Events } from "../events.js";
import { guarded } from "../guarded.js";
import { bindingOf } from "../http/binding.js";
import { lost, NO_TURN, type Outcome, SILENCE, TOKEN_REFUSED, UNCONNECTED } from "../http/outcome.js";
import type { Request } from "../http/request.js";
import type { Target } from "../http/target.js";
import type { Host, Redactor } from "../port.js";
import type { Binding, Secret } from "../wire/secret.js";
import { SecretRedactor } from "../wire/text/redactor.js";
import type { Timestamp } from "../wire/timestamp.js";
import { Backoff } from "./backoff.js";
import { ConnectionPool, purposeOf, type RouteName } from "./connection-pool.js";
import { Counters } from "./counters.js";
import { type Job, Loop } from "./loop.js";
import { EXCHANGE_MS } from "./wait.js";

/** Who sent a request. */
export interface Sender {
  /** What was sent at `since` has come to its end. */
  ended(outcome: Outcome, since: number): void;
}

/** Notified of what happens on a session. */
export interface SessionWatcher {
  /** The application asks for something that can't wait for `start()`. */
  asked(): void;
  /** The `Date` of an answer. Over http it is as good as all else that comes, and stamps only what goes the same way. */
  dated(ms: Timestamp<"server">): void;
  /** The platform took a request with the token. */
  reached(): void;
  /** What the agent published was found on the platform. */
  proven(): void;
  /** The platform answered 401 to the token, which is withdrawn: another one, or the same found good again, is given by `authorize`. */
  unauthorized(): void;
}

const POLLS: readonly RouteName[] = ["rpcPoll", "secondRpcPoll", "attributePoll"];
/** After an answer to what was sent before the last loss. */
const LATE_GATE_MS = 10_000;
/** Less than a connection lets wait: to be turned away there would be taken for a loss. */
const MOST_UNDER_WAY = 24;

/** A request to the device API: `path` is what follows `/api/v1/{token}/`. */
export type DeviceRequest = Request;

export class PlatformSession {
  readonly host: Host;
  readonly target: Target;
  /** What goes out on the session's connections is bound to. */
  readonly binding: Binding;
  /** What leaves for people, or for the platform's store, passes it. */
  readonly redactor: Redactor;
  mode: 1 | 2 | 3;
  private readonly _events: Events;
  /** For `external` and `hangUp` alone: all else goes through this session. */
  readonly connections: ConnectionPool;
  readonly loops: Loop[] = [];
  private readonly _gate: Backoff;
  /** When the last loss was; what was under way then belongs to it. */
  private _gateSince = -1;
  private _gateUntil = 0;
  private _losses = 0;
  private readonly _waiting: (() => void)[] = [];
  #prefix: Secret | undefined;
  private _underWay = 0;
  private _quietSince = 0;
  /** False until `start()` and after `stop()`: loops end then. */
  running = false;
  readonly counters: Counters;
  /** Undefined until the platform answered, or failed to, for the first time. */
  online: boolean | undefined;
  /** When the last answer of the platform came. */
  answeredAt = -1;
  private _busy = false;
  watcher: SessionWatcher | undefined;

  constructor(host: Host, target: Target, mode: 1 | 2 | 3, events: Events) {
    this.host = host;
    this.target = target;
    this.binding = bindingOf(target, host.authorities);
    this.mode = mode;
    this._events = events;
    this.redactor = host.redactor ?? new SecretRedactor(host);
    this.counters = new Counters(host, events, this.redactor);
    this._gate = new Backoff(host);
    this.connections = new ConnectionPool(host, target, mode, this.binding);
  }

  /** A loop for `job`, to be started, that ends when the session stops. */
  loop(name: string, job: Job): Loop {
    const loop = new Loop(this, name, job);
    this.loops.push(loop);
    return loop;
  }

  start(): void {
    this.running = true;
  }

  /** Ends every exchange, open or waiting, and wakes every loop. */
  stop(): void {
    this.running = false;
    this.connections.close();
    for (const loop of this.loops) loop.notify();
    this._wakeAll();
    this.online = undefined;
    this._losses = 0;
    this._gate.reset();
    this._gateUntil = 0;
    // The next start says whose token it is.
    this.#prefix = undefined;
  }

  /** The token's path, escaped: `/api/v1/TOKEN/`. Undefined: no token, requests wait. */
  authorize(prefix: Secret | undefined): void {
    this.#prefix = prefix;
    if (prefix) this._wakeAll();
  }

  free(until: number): boolean {
    return this._wait(until) === 0;
  }

  ready(until: number): Promise<void> {
    if (this.free(until)) return Promise.resolve();
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      const look = () => {
        cancel?.();
        const still = this._wait(until);
        if (still === 0) return resolve();
        this._waiting.push(look);
        cancel = still === undefined ? undefined : this.host.clock.timer(still, () => this._wake(look));
      };
      look();
    });
  }

  /** Sends a request to `prefix` + path: for provisioning, which has no token yet. */
  sendTo(route: RouteName, request: DeviceRequest, prefix: Secret): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(route, request, prefix, resolve));
  }

  /**
   * Sends a request and calls `done` with what became of it: what waits for long keeps no promise, which takes a board half a KB with all that hangs
   * on it. `sender` is notified before anybody else.
   *
   * No job sees a 401 to the token: the session withdraws the token, and the request is `lost` by TOKEN_REFUSED, so that the job sends it again
   * when `ready()` finds a token. With a `prefix` of its own, 401 is `refused` as any other.
   */
  dispatch(
    route: RouteName,
    request: DeviceRequest,
    ownPrefix: Secret | undefined,
    done: (outcome: Outcome) => void,
    sender?: Sender,
  ): void {
    const prefix = ownPrefix ?? this.#prefix;
    if (!this.running || prefix === undefined) {
      done(lost(this.running ? "no token" : "stopped"));
      return;
    }
    const since = this.host.clock.now();
    const poll = POLLS.includes(route);
    // An application may be in a hurry, and a poll's ceiling is found by its silence: only these waited as long as an answer may take.
    const patient = !poll && request.deadlineMs >= EXCHANGE_MS;
    if (!poll) this._underWay++;
    const sent = { ...request, credential: prefix, purpose: purposeOf(route) };
    this.connections.connection(route).send(sent, (outcome) => {
      if (!poll) {
        this._underWay--;
        this._quietSince = this.host.clock.now();
      }
      if (this.running) this.counters.note(outcome, poll);
      if (this.running)
        guarded(this.host, "session: judge() failed", () => this._judge(outcome, since, prefix, patient));
      sender?.ended(outcome, since);
      done(ownPrefix === undefined && isUnauthorized(outcome) ? lost(TOKEN_REFUSED) : outcome);
    });
  }

  /** The platform was heard of, and nothing was lost since: it answers, whatever it says, but for "not now": that may be a proxy before none. */
  get answers(): boolean {
    return !this._busy && (this.online === true || (this.answeredAt >= 0 && this._losses === 0));
  }

  /**
   * The machine's own network was gone and is back. After a loss who waits tries at once: the jitter is for fleets that lost the platform. Connections of before
   * lead nowhere. True if there was a loss that no answer followed.
   */
  networkReturned(): boolean {
    if (!this.running || this._losses === 0) return false;
    this.connections.renew();
    this._gate.reset();
    this._gateUntil = 0;
    this._wakeAll();
    return true;
  }

  /** For how long, in ms, nothing but polls was under way. */
  get quietMs(): number {
    return this._underWay > 0 ? 0 : this.host.clock.now() - this._quietSince;
  }

  /** So many requests are under way that what the application asks waits for its turn. */
  get crowded(): boolean {
    return this._underWay >= MOST_UNDER_WAY;
  }

  /** ms until the next attempt of somebody who has no channel, at least a tick. */
  delay(): number {
    return Math.max(1, Math.ceil(this._gateUntil - this.host.clock.now()));
  }

  /** ms to wait, 0 for none, undefined for "until woken". */
  private _wait(until: number): number | undefined {
    if (!this.running) return 0;
    if (this.#prefix === undefined) return undefined;
    return Math.max(0, Math.ceil(Math.max(until, this._gateUntil) - this.host.clock.now()));
  }

  private _wake(look: () => void): void {
    const at = this._waiting.indexOf(look);
    if (at < 0) return;
    this._waiting.splice(at, 1);
    look();
  }

  private _wakeAll(): void {
    this._waiting.splice(0).forEach((look) => void look());
  }

  private _judge(outcome: Outcome, since: number, prefix: Secret, patient: boolean): void {
    if (outcome.kind === "lost" && outcome.reason !== NO_TURN) this._lost(outcome.reason, since, patient);
    if (outcome.kind === "lost") return;
    this._busy = outcome.kind === "busy";
    const unknown = isUnauthorized(outcome);
    const isCurrent = prefix.equals(this.#prefix);
    // Before "online", whose listeners may ask for the platform's time.
    if (outcome.kind === "done" && outcome.date !== undefined) this.watcher?.dated(outcome.date);
    this._answered(since, isCurrent && !unknown);
    if (outcome.kind === "done" && isCurrent) this.watcher?.reached();
    // Only for the token in use now: an old request may end after a new token was given.
    if (unknown && isCurrent) {
      this.authorize(undefined);
      this.watcher?.unauthorized();
    }
  }

  /** `served`: by the platform, as this device; any answer ends the back-off, but only that is being online. */
  private _answered(since: number, served: boolean): void {
    const now = this.host.clock.now();
    this.answeredAt = now;
    this._losses = 0;
    // What was under way at the last loss may have a connection that still works, when a new one does not come about.
    const late = since <= this._gateSince;
    if (!late) this._gate.reset();
    if (this._gateUntil !== 0) {
      this._gateUntil = late ? Math.min(this._gateUntil, now + LATE_GATE_MS) : 0;
      this._wakeAll();
    }
    if (served && this.online !== true) {
      this.online = true;
      this._events.emit("online", {});
    }
  }

  /** `patient`: all the time was waited in which the platform answers, if it was time that ran out. */
  private _lost(reason: string, since: number, patient: boolean): void {
    const alone = patient && this.answeredAt <= since;
    const silent = alone && reason === SILENCE;
    // Requests that were under way together fail together: they are one loss.
    if (since > this._gateSince) {
      const now = this.host.clock.now();
      this._gateSince = now;
      this._gateUntil = now + this._gate.next(silent || (alone && reason === UNCONNECTED) ? EXCHANGE_MS : 0);
      this._losses++;
    }
    // One loss may be a connection that the platform let go; the second is an outage. So is silence while nothing else is answered.
    if (this.online !== false && (this._losses >= 2 || silent)) {
      this.online = false;
      this._events.emit("offline", { reason: this.redactor.clean(reason) });
    }
  }
}

const isUnauthorized = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.status === 401;
