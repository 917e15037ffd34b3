import type { Outcome } from "../http/outcome.js";
import { delay, FIRST_MS, grown, LONGEST_MS } from "./backoff.js";
import type { RouteName } from "./connection-pool.js";
import type { DeviceRequest, PlatformSession, Sender } from "./session.js";

/** The longest own back-off that a shorter Retry-After does not cut. */
const RETRY_FLOOR_MS = 10_000;

/**
 * One loop's access to the platform: its own back-off for "busy", and the session's for "lost".
 * An agent has eight of these: an object for each back-off would take a board 24 slots.
 */
export class RequestChannel implements Sender {
  private readonly _session: PlatformSession;
  private readonly _route: RouteName;
  private readonly _longestMs: number;
  private _grownMs = FIRST_MS;
  private _until = 0;

  /** `longestMs`: what a hold grows to, about; 5 min if not given. */
  constructor(session: PlatformSession, route: RouteName, longestMs = LONGEST_MS) {
    this._session = session;
    this._route = route;
    this._longestMs = longestMs;
  }

  /** Resolves when a request may be sent: there is a token, and no back-off runs. Also when the session stops: check `session.running`. */
  ready(): Promise<void> {
    return this._session.ready(this._until);
  }

  /** `ready()` would not wait. */
  get free(): boolean {
    return this._session.free(this._until);
  }

  /** Sends `request` to the device API. Never rejects. */
  send(request: DeviceRequest): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(request, resolve));
  }

  /** As `send`, for what may take long: calls `done` with the outcome. */
  dispatch(request: DeviceRequest, done: (outcome: Outcome) => void): void {
    this._session.dispatch(this._route, request, undefined, done, this);
  }

  /** For the session alone: what was sent at `since` has come to its end. */
  ended(outcome: Outcome, since: number): void {
    // The platform answered others meanwhile: it is not away, so nothing else would slow this channel down.
    if (outcome.kind === "lost" && this._session.running && this._session.answeredAt > since) this.hold();
  }

  /**
   * The platform was busy: the next `ready()` waits, longer each time, or as long as the platform said. The platform may shorten that to
   * RETRY_FLOOR_MS: a Retry-After of 0 must not turn a back-off off.
   */
  hold(retryAfterMs?: number): void {
    const { host } = this._session;
    const ownMs = delay(host, this._grownMs, this._longestMs);
    const ms = retryAfterMs === undefined ? ownMs : Math.max(retryAfterMs, Math.min(ownMs, RETRY_FLOOR_MS));
    this._until = host.clock.now() + ms;
    this._grownMs = grown(this._grownMs, this._longestMs);
  }

  /** The next `ready()` waits `ms`, and a `hold()` after it no longer for that. */
  pause(ms: number): void {
    this._until = this._session.host.clock.now() + ms;
  }

  /** The platform took something: the next `hold()` is a short one again. */
  clear(): void {
    this._until = 0;
    this._grownMs = FIRST_MS;
  }

  /** Whether something was answered in the second half of a poll sent at `since`. With one connection nothing else can be. */
  heard(since: number): boolean {
    const { mode, answeredAt, host } = this._session;
    return mode === 1 || answeredAt > (since + host.clock.now()) / 2;
  }

  /** Gives up the connection that this channel alone uses (none, if others share it). */
  hangUp(): void {
    this._session.connections.hangUp(this._route);
  }
}
