import type { Host } from "../port.js";

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
