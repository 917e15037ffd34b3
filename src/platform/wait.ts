// Waiting: calls of the application that wait for the platform, until a time limit or an abort.

import { MoteError } from "../errors.js";
import { type Outcome, TOKEN_REFUSED } from "../http/outcome.js";
import type { Clock } from "../port.js";
import { type AbortSignalLike, checkSignal } from "./abort-signal.js";
import type { RouteName } from "./connection-pool.js";
import type { DeviceRequest, PlatformSession } from "./session.js";

/** Options of calls that wait. */
export interface WaitOptions {
  /**
   * Time limit of the whole call in ms, 0 to 20 days; then it rejects with `TIMEOUT`. Default
   * 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Aborts the call, which rejects with `ABORTED`. */
  readonly signal?: AbortSignalLike | undefined;
}

export const DEFAULT_TIMEOUT_MS = 30_000;

/** A host's timer is limited to 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Throws `BAD_VALUE` unless `timeoutMs` is a number from 0 to 20 days. */
export const checkTimeout = (timeoutMs: number): void => {
  if (typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= LONGEST_MS) return;
  throw new MoteError("BAD_VALUE", "invalid timeoutMs: expected a number of ms, 0 to 20 days");
};

/** Waits `ms`; without it, only lets other work run. */
export const pause = (clock: Clock, ms = 0): Promise<void> => {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
};

/** Interval for checking again whether there is room in the queue. */
const TURN_MS = 200;

/**
 * Sends a request of the application, and retries it after a loss or a busy answer if it is
 * repeatable. Resolves with the `done` outcome. Rejects with `TIMEOUT`, `REFUSED`, `STOPPED` or
 * `ABORTED`.
 */
export const requestUntil = async (
  session: PlatformSession,
  route: RouteName,
  request: DeviceRequest,
  options: WaitOptions,
): Promise<Outcome & { kind: "done" }> => {
  const { signal } = options;
  checkSignal(signal);
  if (signal?.aborted) throw new MoteError("ABORTED", "the caller aborted the call");
  const answer = repeatUntil(session, route, request, options);
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new MoteError("ABORTED", "the caller aborted the call"));
    const over = () => signal.removeEventListener("abort", abort);
    // First, so that an answer is never left unhandled if the application's signal throws.
    answer
      .then(resolve, reject)
      .then(over)
      .catch(() => {});
    signal.addEventListener("abort", abort);
  });
};

/** Like `requestUntil`, for the text of the answer. Also rejects with `TOO_LARGE`. */
export const requestText = (
  session: PlatformSession,
  route: RouteName,
  request: DeviceRequest,
  options: WaitOptions,
): Promise<string> =>
  requestUntil(session, route, request, options).then(({ body, whole }) => {
    if (whole) return session.host.decode(body) ?? "";
    throw session.counters.emitError("TOO_LARGE", `the answer is longer than ${request.limit} bytes`);
  });

async function repeatUntil(
  session: PlatformSession,
  route: RouteName,
  request: DeviceRequest,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: WaitOptions,
): Promise<Outcome & { kind: "done" }> {
  checkTimeout(timeoutMs);
  session.watcher.callNeedsSession();
  const end = session.host.clock.now() + timeoutMs;
  const pacer = session.pacer("application");
  while (session.running && !signal?.aborted) {
    await pacer.ready(end, signal);
    if (!session.running || signal?.aborted) break;
    const left = end - session.host.clock.now();
    if (left <= 0) throw unreachable(session);
    if (session.crowded) {
      await pause(session.host.clock, Math.min(left, TURN_MS));
      continue;
    }
    const limited = {
      ...request,
      deadlineMs: Math.min(request.deadlineMs, left),
      deadlineIncludesQueue: true,
      isWanted: () => !signal?.aborted && session.host.clock.now() < end,
    };
    const outcome = await session.send(route, limited);
    if (outcome.kind !== "refused") pacer.after(outcome);
    if (outcome.kind === "done") return outcome;
    if (outcome.kind === "refused")
      throw session.counters.emitError("REFUSED", `the platform answered ${outcome.status}`);
    const processed = outcome.kind !== "lost" || outcome.reason !== TOKEN_REFUSED;
    if (!request.repeatable && processed && session.running)
      throw session.counters.emitError("TIMEOUT", "no answer from the platform");
  }
  throw signal?.aborted
    ? session.counters.emitError("ABORTED", "the caller aborted the call")
    : session.counters.emitError("STOPPED", "the agent was stopped");
}

/** Without a token, the call waited for the next attempt to get one. */
const unreachable = (session: PlatformSession): MoteError =>
  session.refusal === undefined
    ? session.counters.emitError("TIMEOUT", "the platform cannot be reached")
    : session.counters.emitError("REFUSED", `the platform refuses this device: ${session.refusal}`);
