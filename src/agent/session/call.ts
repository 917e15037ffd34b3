import type { Outcome } from "../../net/retry/outcome.js";
import { checkDeadline } from "../common/deadline.js";
import type { Lane } from "./request-channel.js";
import type { DeviceRequest, Link } from "./session.js";

/** Until a place in the queue is looked for again. */
const TURN_MS = 200;

/**
 * Sends a request that the application waits for: again after a loss or a busy answer (if it may be repeated), until `deadlineMs`
 * are over. Returns the `done` outcome; rejects with `TIMEOUT`, `REFUSED` or `STOPPED`.
 */
export async function ask(
  link: Link,
  lane: Lane,
  request: DeviceRequest,
  deadlineMs: number,
): Promise<Outcome & { kind: "done" }> {
  checkDeadline(deadlineMs);
  link.watcher?.asked();
  const end = link.host.clock.now() + deadlineMs;
  while (link.running) {
    const left = await within(link, lane.ready(), end);
    if (!link.running) break;
    if (left <= 0) throw link.counters.error("TIMEOUT", "the platform can't be reached");
    if (link.crowded) {
      await pause(link, Math.min(left, TURN_MS));
      continue;
    }
    const hurried = { ...request, deadlineMs: Math.min(request.deadlineMs, left), hurried: true };
    const outcome = await lane.send(hurried);
    if (outcome.kind === "done") {
      lane.clear();
      return outcome;
    }
    if (outcome.kind === "refused")
      throw link.counters.error("REFUSED", `the platform answered ${outcome.status}`);
    if (outcome.kind === "busy") lane.hold(outcome.retryAfterMs);
    if (!request.repeatable && link.running) throw link.counters.error("TIMEOUT", "no answer came");
  }
  throw link.counters.error("STOPPED", "the agent is stopped");
}

function pause(link: Link, ms: number): Promise<void> {
  return new Promise((resolve) => {
    link.host.clock.timer(ms, resolve);
  });
}

/** Waits for `ready`, but not beyond `end`; returns the ms that are left. */
function within(link: Link, ready: Promise<void>, end: number): Promise<number> {
  const clock = link.host.clock;
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      resolve(end - clock.now());
    };
    const cancel = clock.timer(Math.max(0, end - clock.now()), done);
    ready.then(done);
  });
}
