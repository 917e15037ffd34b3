import { type AppOutcome, callApp } from "../../guarded.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";

/**
 * Calls the application, which may throw, answer late or never answer, and waits at most `limitMs`.
 * Undefined if it threw, was late, or the agent stopped.
 */
export async function askApplication<T>(
  session: PlatformSession,
  name: "firmware.allow" | "firmware.selfTest",
  signal: Signal,
  question: () => T | Promise<T>,
  limitMs: number,
): Promise<T | undefined> {
  const { host, applicationCalls } = session;
  let outcome: AppOutcome<T> | undefined;
  // Asked in a turn of its own, so that the answer comes after the wait below began: a notification
  // that nothing waits for would end the caller's next wait at once.
  const ask = () => Promise.resolve().then(question);
  applicationCalls.push(name);
  const cancel = callApp(host.clock, limitMs, ask, (answered) => {
    outcome = answered;
    signal.notify();
  });
  while (!outcome && session.running) await signal.wait();
  cancel();
  applicationCalls.splice(applicationCalls.indexOf(name), 1);
  if (outcome?.kind === "threw") host.log("error", `${name} threw`);
  return outcome?.kind === "value" ? outcome.value : undefined;
}
