import { MoteError } from "../errors.js";
import { type Outcome, TOKEN_REFUSED } from "../http/outcome.js";
import type { RequestChannel } from "./request-channel.js";
import type { DeviceRequest, PlatformSession } from "./session.js";
import {
  type AbortSignalLike,
  checkSignal,
  checkTimeout,
  DEFAULT_TIMEOUT_MS,
  pause,
  type WaitOptions,
} from "./wait.js";

/** Interval for checking again whether there is room in the queue. */
const TURN_MS = 200;

/**
 * Sends a request of the application, and retries it after a loss or a busy answer if it is
 * repeatable. Resolves with the `done` outcome. Rejects with `TIMEOUT`, `REFUSED`, `STOPPED` or
 * `ABORTED`.
 */
export const requestUntil = async (
  session: PlatformSession,
  channel: RequestChannel,
  request: DeviceRequest,
  options: WaitOptions,
): Promise<Outcome & { kind: "done" }> => {
  const { signal } = options;
  checkSignal(signal);
  if (signal?.aborted) throw new MoteError("ABORTED", "the caller aborted the call");
  const answer = repeatUntil(session, channel, request, options);
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new MoteError("ABORTED", "the caller aborted the call"));
    const over = () => signal.removeEventListener("abort", abort);
    signal.addEventListener("abort", abort);
    answer.then(resolve, reject).then(over);
  });
};

async function repeatUntil(
  session: PlatformSession,
  channel: RequestChannel,
  request: DeviceRequest,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: WaitOptions,
): Promise<Outcome & { kind: "done" }> {
  checkTimeout(timeoutMs);
  session.watcher.callNeedsSession();
  const end = session.host.clock.now() + timeoutMs;
  while (session.running && !signal?.aborted) {
    const left = await within(session, channel.ready(), end, signal);
    if (!session.running || signal?.aborted) break;
    if (left <= 0) throw session.counters.emitError("TIMEOUT", "the platform cannot be reached");
    if (session.crowded) {
      await pause(session.host.clock, Math.min(left, TURN_MS));
      continue;
    }
    const limited = {
      ...request,
      deadlineMs: Math.min(request.deadlineMs, left),
      deadlineIncludesQueue: true,
    };
    const outcome = await channel.send(limited);
    if (outcome.kind === "done") {
      channel.clear();
      return outcome;
    }
    if (outcome.kind === "refused")
      throw session.counters.emitError("REFUSED", `the platform answered ${outcome.status}`);
    if (outcome.kind === "busy") channel.hold(outcome.retryAfterMs);
    const processed = outcome.kind !== "lost" || outcome.reason !== TOKEN_REFUSED;
    if (!request.repeatable && processed && session.running)
      throw session.counters.emitError("TIMEOUT", "no answer from the platform");
  }
  throw signal?.aborted
    ? session.counters.emitError("ABORTED", "the caller aborted the call")
    : session.counters.emitError("STOPPED", "the agent was stopped");
}

/** Waits for `ready`, an abort or `end`; returns the remaining ms. */
const within = (
  session: PlatformSession,
  ready: Promise<void>,
  end: number,
  signal: AbortSignalLike | undefined,
): Promise<number> => {
  const clock = session.host.clock;
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve(end - clock.now());
    };
    const cancel = clock.timer(Math.max(0, end - clock.now()), done);
    signal?.addEventListener("abort", done);
    ready.then(done);
  });
};
