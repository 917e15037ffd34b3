// `mote run PROGRAM`: bundles a program of one's own, runs it, and starts it again after each
// change of its files.
import { pause } from "../../cli/stop.js";
import { UsageError } from "../../cli/usage.js";
import { STOPPED, USAGE } from "../../exit-codes.js";
import type { Outcome } from "../supervisor.js";
import { type Bundle, bundle, type Source } from "./bundle.js";
import { changed } from "./changes.js";

export interface Develop {
  readonly source: Source;
  readonly first: Bundle;
  /** Runs an image until `stop` aborts. `again`: it ran before. */
  run(image: Uint8Array, stop: AbortSignal, again: boolean): Promise<Outcome>;
  tell(level: "info" | "error", line: string): void;
  readonly stop: AbortSignal;
}

/** Resolves with the exit code. */
export async function develop({ source, first, run, tell, stop }: Develop): Promise<Outcome> {
  let now = first;
  let again = false;
  for (;;) {
    const next = new AbortController();
    const built = nextBundle(source, now, AbortSignal.any([stop, next.signal]), tell);
    void built.then((bundled) => bundled && next.abort());
    const outcome = await run(now.bytes, AbortSignal.any([stop, next.signal]), again).catch((error) => {
      // Looking for changes would keep the process.
      next.abort();
      throw error;
    });
    const isChange = next.signal.aborted;
    if (!isChange && outcome !== "reset" && !(again && outcome === USAGE && !stop.aborted)) {
      next.abort();
      return outcome;
    }
    if (outcome === USAGE) tell("info", "waiting for a change");
    else if (!isChange) next.abort();
    now = (await built) ?? now;
    if (stop.aborted) return STOPPED;
    again = true;
  }
}

/** The bundle after the next change that can be built and differs. Undefined after `stop`. */
async function nextBundle(
  source: Source,
  { inputs, bytes }: Bundle,
  stop: AbortSignal,
  tell: Develop["tell"],
): Promise<Bundle | undefined> {
  while (await changed(inputs, stop)) {
    // An editor may write several files.
    await pause(100, stop);
    try {
      const made = await bundle(source, { isMapped: true });
      if (stop.aborted) return undefined;
      if (Buffer.compare(made.bytes, bytes) === 0) continue;
      tell("info", "a file changed: starting again");
      return made;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      tell("error", error.message);
    }
  }
  return undefined;
}
