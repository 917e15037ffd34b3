import type { Outcome } from "../http/outcome.js";
import { delay, FIRST_MS, grown, LONGEST_MS } from "./backoff.js";
import type { RouteName } from "./connection-pool.js";
import type { DeviceRequest, PlatformSession } from "./session.js";

/** A Retry-After cannot shorten the own back-off below this (or below the back-off, if shorter). */
const RETRY_FLOOR_MS = 10_000;

/**
 * A loop's access to the platform: its own back-off for "busy", and the session's for "lost". Eight
 * exist per agent; a separate object for each back-off would cost a board 24 slots.
 */
export class RequestChannel {
  private readonly _session: PlatformSession;
  private readonly _route: RouteName;
  private readonly _longestMs: number;
  private _grownMs = FIRST_MS;
  private _until = 0;

  /** `longestMs`: approximate maximum of the back-off; default 5 min. */
  constructor(session: PlatformSession, route: RouteName, longestMs = LONGEST_MS) {
    this._session = session;
    this._route = route;
    this._longestMs = longestMs;
  }

  /**
   * Resolves when a request may be sent: there is a token and no back-off. Also resolves when the
   * session stops, so check `session.running`.
   */
  ready(): Promise<void> {
    return this._session.ready(this._until);
  }

  /** True if `ready()` would resolve at once. */
  get free(): boolean {
    return this._session.free(this._until);
  }

  /** Sends `request` to the device API. Never rejects. */
  send(request: DeviceRequest): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(request, resolve));
  }

  /** Like `send` for long requests: calls `done` with the outcome, without a promise. */
  dispatch(request: DeviceRequest, done: (outcome: Outcome) => void): void {
    this._session.dispatch(this._route, request, undefined, done, this);
  }

  /** For the session: the request sent at `since` ended. */
  ended(outcome: Outcome, since: number): void {
    // The platform answered others meanwhile, so no session back-off slows this channel down.
    if (outcome.kind === "lost" && this._session.running && this._session.answeredAt > since) this.hold();
  }

  /**
   * The platform was busy: delays the next `ready()` by a growing back-off or by `retryAfterMs`.
   * Retry-After can shorten the back-off only to RETRY_FLOOR_MS, so that 0 does not disable it.
   */
  hold(retryAfterMs?: number): void {
    const { host } = this._session;
    const ownMs = delay(host, this._grownMs, this._longestMs);
    const ms = retryAfterMs === undefined ? ownMs : Math.max(retryAfterMs, Math.min(ownMs, RETRY_FLOOR_MS));
    this._until = host.clock.now() + ms;
    this._grownMs = grown(this._grownMs, this._longestMs);
  }

  /** Delays the next `ready()` by `ms`, without growing the back-off. */
  pause(ms: number): void {
    this._until = this._session.host.clock.now() + ms;
  }

  /** The platform accepted a request: resets the back-off. */
  clear(): void {
    this._until = 0;
    this._grownMs = FIRST_MS;
  }

  /**
   * True if any request was answered in the second half of a poll sent at `since`. Always true with
   * one connection.
   */
  heard(since: number): boolean {
    const { connections, answeredAt, host } = this._session;
    return connections.sharesUplink || answeredAt > (since + host.clock.now()) / 2;
  }

  /** Closes the connection of this channel, unless others share it. */
  hangUp(): void {
    this._session.connections.hangUp(this._route);
  }
}
