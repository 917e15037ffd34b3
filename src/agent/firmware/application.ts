import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import type { Reporter } from "./reporter.js";

// Calls into the application, which may throw, answer late or never answer.

/**
 * Calls the application and waits at most `limitMs`. Undefined if it threw, was late, or the agent
 * stopped.
 */
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
      session.host.log(
        "error",
        "a firmware callback of the application threw: see firmware.allow and firmware.selfTest",
      );
      done();
    });
  while (!answered && session.running && clock.now() < end) await signal.wait(end - clock.now());
  return answer;
}

/** Restarts the machine. Resolves only if the session stops instead. */
export async function restart(session: PlatformSession, signal: Signal, reporter: Reporter): Promise<void> {
  reporter.restart();
  session.host.restart("firmware");
  while (session.running) await signal.wait();
}
