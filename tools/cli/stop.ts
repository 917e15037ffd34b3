import { setTimeout as wait } from "node:timers/promises";
import { INTERRUPTED } from "../exit-codes.js";

/** When to end, and when to do so at once. */
export interface Stop {
  stop: AbortSignal;
  kill: AbortSignal;
}

/** SIGINT, SIGTERM or SIGHUP stops, a second one kills. So does the end of the parent's channel. */
export function stopSignals(): Stop {
  const stop = new AbortController();
  const kill = new AbortController();
  const ask = (): void => (stop.signal.aborted ? kill : stop).abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, ask);
  if (process.connected) process.once("disconnect", () => stop.abort());
  return { stop: stop.signal, kill: kill.signal };
}

/** Resolves after `ms`, or when `stop` aborts. Removes its listeners. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal: stop });
  } catch {
    // It was asked to stop.
  }
}

/** While `work` runs, Ctrl-C ends the process with 130. What was sent or written so far stays. */
export async function interruptible<T>(work: () => Promise<T>): Promise<T> {
  const end = (): void => {
    process.stderr.write("interrupted; what is done so far stays\n", () => process.exit(INTERRUPTED));
  };
  process.once("SIGINT", end);
  try {
    return await work();
  } finally {
    process.off("SIGINT", end);
  }
}
