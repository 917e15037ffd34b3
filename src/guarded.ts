import type { Host } from "./port.js";

/** Calls what belongs to the application: an exception, or a promise that it returns and rejects, is logged as `what` and goes no further. */
export const guarded = (host: Host, what: string, call: () => unknown): void => {
  const failed = () => host.log("error", what);
  try {
    const returned = call();
    if (returned instanceof Promise) returned.catch(failed);
  } catch {
    failed();
  }
};

/** What `work`, which belongs to the application, resolves with; undefined if it throws or takes longer than `ms`: that is logged. Never rejects. */
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
