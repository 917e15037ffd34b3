import type { Outcome } from "../http/outcome.js";
import { checkDeadline } from "./deadline.js";
import type { RequestChannel } from "./request-channel.js";
import type { DeviceRequest, PlatformSession } from "./session.js";

/** Until a place in the queue is looked for again. */
const TURN_MS = 200;

/**
 * Sends a request that the application waits for: again after a loss or a busy answer (if it may be repeated), until `deadlineMs`
 * are over. Returns the `done` outcome; rejects with `TIMEOUT`, `REFUSED` or `STOPPED`.
 */
export async function ask(
  session: PlatformSession,
  channel: RequestChannel,
  request: DeviceRequest,
  deadlineMs: number,
): Promise<Outcome & { kind: "done" }> {
  checkDeadline(deadlineMs);
  session.watcher?.asked();
  const end = session.host.clock.now() + deadlineMs;
  while (session.running) {
    const left = await within(session, channel.ready(), end);
    if (!session.running) break;
    if (left <= 0) throw session.counters.error("TIMEOUT", "the platform can't be reached");
    if (session.crowded) {
      await pause(session, Math.min(left, TURN_MS));
      continue;
    }
    const hurried = { ...request, deadlineMs: Math.min(request.deadlineMs, left), hurried: true };
    const outcome = await channel.send(hurried);
    if (outcome.kind === "done") {
      channel.clear();
      return outcome;
    }
    if (outcome.kind === "refused")
      throw session.counters.error("REFUSED", `the platform answered ${outcome.status}`);
    if (outcome.kind === "busy") channel.hold(outcome.retryAfterMs);
    if (!request.repeatable && session.running) throw session.counters.error("TIMEOUT", "no answer came");
  }
  throw session.counters.error("STOPPED", "the agent is stopped");
}

const pause = (session: PlatformSession, ms: number): Promise<void> => {
  return new Promise((resolve) => {
    session.host.clock.timer(ms, resolve);
  });
};

/** Waits for `ready`, but not beyond `end`; returns the ms that are left. */
const within = (session: PlatformSession, ready: Promise<void>, end: number): Promise<number> => {
  const clock = session.host.clock;
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      resolve(end - clock.now());
    };
    const cancel = clock.timer(Math.max(0, end - clock.now()), done);
    ready.then(done);
  });
};
