import { type Platform, type PlatformServerOptions, startPlatform } from "../../tools/platform/server.js";

/** A local platform at a free port, until the test `t` ends. */
export async function platformFor(
  t: { teardown(end: () => unknown): void },
  options: PlatformServerOptions = {},
): Promise<Platform> {
  const platform = await startPlatform({ port: 0, ...options });
  t.teardown(() => platform.close());
  return platform;
}
