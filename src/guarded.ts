import type { Host } from "./port.js";

/**
 * Calls application code. An exception or a rejected promise is logged as `what` and has no other
 * effect.
 */
export const guarded = (host: Host, what: string, call: () => unknown): void => {
  const failed = () => host.log("error", what);
  try {
    const returned = call();
    if (returned instanceof Promise) returned.catch(failed);
  } catch {
    failed();
  }
};

/**
 * Runs application code with a time limit. Undefined, with a log entry, if it throws or exceeds
 * `ms`. Never rejects.
 */
export const limited = <T>(
  host: Host,
  what: string,
  ms: number,
  work: () => T | Promise<T>,
): Promise<T | undefined> => {
  return new Promise((resolve) => {
    const end = (failure: string) => {
      cancel();
      host.log("error", `${what} ${failure}`);
      resolve(undefined);
    };
    const cancel = host.clock.timer(Math.max(0, ms), () => end("took too long"));
    Promise.resolve()
      .then(work)
      .then(
        (value) => {
          cancel();
          resolve(value);
        },
        () => end("failed"),
      );
  });
};
