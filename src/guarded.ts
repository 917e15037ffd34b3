// Every call of application code: the only place that catches what it throws.
import type { Clock, Host } from "./port.js";

/** The outcome of a call of application code. */
export type AppOutcome<T> =
  | { kind: "value"; value: T }
  | { kind: "threw"; error: unknown }
  | { kind: "late" };

/**
 * Calls application code, which may throw, answer late or never. `done` gets the outcome once, at
 * most `ms` later if that is given. Returns a function that cancels the wait.
 */
export const callApp = <T>(
  clock: Clock,
  ms: number | undefined,
  call: () => T | Promise<T>,
  done: (outcome: AppOutcome<T>) => void,
): (() => void) => {
  let cancel: (() => void) | undefined;
  let over = false;
  const end = (outcome: AppOutcome<T>) => {
    if (over) return;
    over = true;
    cancel?.();
    done(outcome);
  };
  const fail = (error: unknown) => end({ kind: "threw", error });
  try {
    const returned = call();
    if (isThenable(returned)) {
      if (ms !== undefined) cancel = clock.timer(Math.max(0, ms), () => end({ kind: "late" }));
      Promise.resolve(returned).then((value) => end({ kind: "value", value }), fail);
    } else end({ kind: "value", value: returned });
  } catch (error) {
    fail(error);
  }
  return () => {
    over = true;
    cancel?.();
  };
};

/** Calls application code. If it fails, that is logged as `what` and has no other effect. */
export const guarded = (host: Pick<Host, "clock" | "log">, what: string, call: () => unknown): void => {
  callApp(host.clock, undefined, call, ({ kind }) => {
    if (kind === "threw") host.log("error", what);
  });
};

/**
 * Returns the result of application code, or undefined if it throws or takes longer than `ms`,
 * which is logged. Never rejects.
 */
export const limited = <T>(
  host: Pick<Host, "clock" | "log">,
  what: string | (() => string),
  ms: number,
  call: () => T | Promise<T>,
): Promise<T | undefined> => {
  return new Promise((resolve) => {
    callApp(host.clock, ms, call, (outcome) => {
      if (outcome.kind === "value") return resolve(outcome.value);
      const name = typeof what === "string" ? what : what();
      host.log("error", `${name} ${outcome.kind === "late" ? "took too long" : "failed"}`);
      resolve(undefined);
    });
  });
};

/** True for a value that `await` would wait for. */
const isThenable = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === "function";
