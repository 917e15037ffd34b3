import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import type { Reporter } from "./reporter.js";

// Questions to the application: it may throw, answer late or never.

/** Asks and waits `limitMs` at most. Undefined if it threw, did not answer in time, or the agent was stopped meanwhile. */
export async function askApplication<T>(
  session: PlatformSession,
  signal: Signal,
  question: () => T | Promise<T>,
  limitMs: number,
): Promise<T | undefined> {
  const { clock } = session.host;
  const end = clock.now() + limitMs;
  let answered = false;
  let answer: T | undefined;
  const done = (value?: T) => {
    answered = true;
    answer = value;
    signal.notify();
  };
  Promise.resolve()
    .then(question)
    .then(done, () => {
      session.host.log("error", "a question about the firmware made the application throw");
      done();
    });
  while (!answered && session.running && clock.now() < end) await signal.wait(end - clock.now());
  return answer;
}

/** Restarts the machine. Resolves only if it does not: when the session stops. */
export async function restart(session: PlatformSession, signal: Signal, reporter: Reporter): Promise<void> {
  reporter.restart();
  session.host.restart("firmware");
  while (session.running) await signal.wait();
}
