import type { Host } from "../port.js";
import type { Link } from "./link.js";
import type { Signal } from "./signal.js";

const LOOP_RESTART_MS = 10_000;

/** Calls what belongs to the application: an exception, or a promise that it returns and rejects, is logged as `what` and goes no further. */
export function guarded(host: Host, what: string, call: () => unknown): void {
  const failed = () => host.log("error", what);
  try {
    const returned = call();
    if (returned instanceof Promise) returned.catch(failed);
  } catch {
    failed();
  }
}

/** What `work`, which belongs to the application, resolves with; undefined if it throws or takes longer than `ms`: that is logged. Never rejects. */
export function limited<T>(
  host: Host,
  what: string,
  ms: number,
  work: () => T | Promise<T>,
): Promise<T | undefined> {
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
}

/** Runs a loop until the link ends. A mistake of the agent's own must not silence it: the loop begins anew. */
export async function keepUp(link: Link, name: string, loop: { run(): Promise<void> }): Promise<void> {
  let rest: Signal | undefined;
  while (link.running) {
    try {
      await loop.run();
    } catch (error) {
      const what = error instanceof Error ? `${error.name}: ${error.message.slice(0, 80)}` : "unknown";
      link.host.log("error", `the ${name} loop failed and begins anew in 10 s (${what})`);
      rest ??= link.signal();
      await rest.wait(LOOP_RESTART_MS);
    }
  }
}
