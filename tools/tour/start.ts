import { calledAs } from "../cli/invocation.js";
import { logInLocally } from "../cli/operator/local-login.js";
import { untilUnread } from "../cli/output/reader.js";
import { stopSignals } from "../cli/stop.js";
import { FAILED, STOPPED } from "../exit-codes.js";
import { EventLines, greeting, printHints, printSummaries } from "./live.js";
import { runTour } from "./run-tour.js";
import { openSetup, type Setup, type SetupOptions } from "./setup.js";
import { limitedBy } from "./tour.js";

export interface StartOptions extends SetupOptions {
  /** Maximum length of the tour in milliseconds; undefined: no tour, but the device's events. */
  forMs?: number | undefined;
}

/** Runs `mote start`. Resolves to the exit code. */
export async function start(options: StartOptions): Promise<number> {
  // Stopping takes at most 8 s per child.
  const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
  try {
    return await (options.forMs === undefined ? watch(options, stop) : tour(options, options.forMs, stop));
  } catch (error) {
    if (stop.aborted) return STOPPED;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
}

async function watch(options: StartOptions, stop: AbortSignal): Promise<number> {
  const lines = new EventLines((text) => process.stdout.write(text));
  const setup = await openSetup(options, stop, (event) => lines.show(event));
  try {
    lines.print(greeting(setup));
    lines.print([await logInLocally(setup.url, calledAs())]);
    const agent = setup.agent.start();
    void printHints(setup, lines, stop);
    void printSummaries(setup, lines, stop);
    const reason = await Promise.race([
      whenAborted(stop),
      setup.platform.ended.then(
        ({ code }) => `the platform ended (${code}): ${setup.platform.lastStderrLine}`,
      ),
      agent.ended.then(({ code }) => `the agent ended (${code}): ${agent.lastStderrLine}`),
    ]);
    if (reason !== undefined) lines.print([reason]);
    return reason === undefined ? STOPPED : FAILED;
  } finally {
    await setup.close();
  }
}

async function tour(options: StartOptions, forMs: number, stop: AbortSignal): Promise<number> {
  const limit = limitedBy(stop, forMs, new Error("time is up"));
  let setup: Setup | undefined;
  try {
    setup = await openSetup(options, stop, () => undefined);
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    for (const line of greeting(setup).slice(0, 2)) print(line);
    return (await runTour(setup, limit.signal, print)) ? STOPPED : FAILED;
  } finally {
    limit.end();
    await setup?.close();
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
