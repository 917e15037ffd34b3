// A firewall or a proxy may reset the connection, or never answer, on a body that it dislikes. Sent
// again, the same body is lost again, and everything behind it waits. So after each loss of a body,
// a small request tests whether the platform answers at all. If it does, time after time, the body
// counts as refused, and the caller continues as after a 413.

import { type Outcome, UNANSWERED } from "../http/outcome.js";
import type { RouteName } from "./connection-pool.js";
import { LOST_BODY_MS, type PaceName } from "./pace.js";
import type { Pacer } from "./pacer.js";
import { PROBE } from "./requests.js";
import type { DeviceRequest, PlatformSession } from "./session.js";

/** Losses after which a body is refused that the caller then sends in parts. */
const SOME_LOSSES = 3;
/**
 * Losses after which a body is refused that the caller then drops. On a link that loses half of all
 * requests, one body in a million is lost so often with an answered test after each loss.
 */
const MANY_LOSSES = 10;

/** Log losses at most once in this time. */
const QUIET_MS = 3_600_000;
/** Approximate size of the test. */
const PROBE_BYTES = 150;

type Lost = Outcome & { kind: "lost" };

/** Sends bodies that are repeated until they are accepted. */
export class LostBodies {
  private readonly _session: PlatformSession;
  private readonly _route: RouteName & PaceName;
  private readonly _pacer: Pacer;
  private _body: string | undefined;
  private _quietUntil = 0;
  /** Losses of the last body, each with an answered test after it. A caller may restore them. */
  losses = 0;

  constructor(session: PlatformSession, route: RouteName & PaceName) {
    this._session = session;
    this._route = route;
    this._pacer = session.pacer(route);
  }

  /**
   * Sends `request` on the route. After some losses of the same body, the outcome is `refused`
   * with UNANSWERED. `body` identifies one that the caller would then drop; "": it can be divided.
   */
  send(request: DeviceRequest, body: string): Promise<Outcome> {
    if (body !== (this._body ?? body)) this.losses = 0;
    this._body = body;
    const most = body === "" ? SOME_LOSSES : MANY_LOSSES;
    const sentAt = this._now;
    const deadlineMs = Math.min(request.deadlineMs, this._session.connections.longestBodyMs);
    return this._session.send(this._route, { ...request, deadlineMs }).then((outcome) => {
      if (outcome.kind !== "lost") this.losses = 0;
      if (outcome.kind !== "lost" || !outcome.sent || !this._session.running) return outcome;
      return this._pacer
        .ready()
        .then(() => this._test({ ...request, deadlineMs }, outcome, this._now - sentAt, most));
    });
  }

  /** Sends the test after a loss that took `tookMs`. */
  private _test(request: DeviceRequest, outcome: Lost, tookMs: number, most: number): Promise<Outcome> {
    let sentAt = this._now;
    const sent = () => {
      sentAt = this._now;
    };
    return this._session.send(this._route, { ...PROBE, sent }).then((answer) => {
      if (answer.kind === "busy") this._pacer.after(answer);
      const isSlow = tookMs >= request.deadlineMs && this._estimateMs(request, sentAt) > request.deadlineMs;
      if (answer.kind !== "done" || isSlow) {
        this.losses = 0;
        return outcome;
      }
      this.losses++;
      if (this.losses >= SOME_LOSSES) this._log(request, outcome.reason);
      if (this.losses >= most) return { kind: "refused", status: UNANSWERED, body: new Uint8Array(0) };
      const pauseMs = LOST_BODY_MS[Math.min(this.losses, LOST_BODY_MS.length) - 1] as number;
      if (tookMs < pauseMs) this._pacer.pause(pauseMs);
      return outcome;
    });
  }

  /** Time that the request takes if the link is as slow as for the test, sent at `sentAt`. */
  private _estimateMs({ body }: DeviceRequest, sentAt: number): number {
    return (this._now - sentAt) * (1 + (body?.length ?? 0) / PROBE_BYTES);
  }

  /** The session is online, so its event `offline` does not tell the reason. */
  private _log({ body }: DeviceRequest, reason: string): void {
    if (this._now < this._quietUntil) return;
    this._quietUntil = this._now + QUIET_MS;
    const { host, redactor } = this._session;
    const what = `${body?.length} bytes were lost again and again (${reason})`;
    host.log("warn", redactor.clean(`${what}, but the platform answers smaller requests`));
  }

  private get _now(): number {
    return this._session.host.clock.now();
  }
}
