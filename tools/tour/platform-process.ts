import { Child } from "./processes.js";

/** A loaded computer takes many times the usual second. */
const START_MS = 60_000;

interface PlatformProcessOptions {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** Gives the start up. */
  readonly stop: AbortSignal;
}

/**
 * Starts `mote platform` and resolves once it listens. Rejects, after the process has ended, if it
 * ended before, took longer than a minute, or `stop` aborted.
 */
export async function openPlatform({
  args,
  env,
  stop,
}: PlatformProcessOptions): Promise<{ platform: Child; url: string }> {
  let settle: (outcome: { url: string } | { failed: string }) => void;
  // Only the first outcome counts: a platform that was given up may still say that it listens.
  const first = new Promise<{ url: string } | { failed: string }>((resolve) => (settle = resolve));
  const fail = (failed: string): void => settle({ failed });
  const platform = new Child(["platform", ...args, "--json"], env, ({ event, url }) => {
    if (event === "listening" && typeof url === "string") settle({ url });
  });
  const onStop = (): void => fail("stopped");
  const timer = setTimeout(() => fail(`nothing heard for ${START_MS / 1000} s`), START_MS);
  void platform.ended.then(({ code }) => fail(`it ended with ${code}`));
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  const outcome = await first;
  clearTimeout(timer);
  stop.removeEventListener("abort", onStop);
  if ("url" in outcome) return { platform, url: outcome.url };
  await platform.stop();
  throw new Error(`the platform did not start: ${platform.lastStderrLine || outcome.failed}`);
}
