// How soon the first byte of a new image is asked for, by where it lies.
import test from "ava";
import { Files, HOST } from "./file-servers.js";
import type { Connections } from "./lamp.js";

/** ms from the assignment, `afterMs` after the start, to the first request for the image. */
async function begins(
  where: "platform" | "URL",
  connections: Connections,
  afterMs: number,
  more?: object,
): Promise<number> {
  const files = new Files({
    connections,
    firmware: { urlHosts: [HOST], allowUnverified: true },
  });
  const { lamp } = files;
  const { clock } = lamp.machine;
  await lamp.pass(afterMs);
  const at = clock.now();
  if (where === "URL") files.assign(undefined, more);
  else lamp.assign(lamp.package("2.0.0", lamp.image("2.0.0", 20_000)));
  await lamp.until(() => files.seen.length + lamp.fetches.length > 0);
  return clock.now() - at;
}

/** ms: two looks at the keys, each at the end of a poll, every 30 s, or as soon as a poll brings a change. */
const WITHIN = { 1: 50_000, 2: 33_000, 3: 3000 } as const;

for (const connections of [1, 2, 3] as const) {
  test(`a package with an address of its own is fetched as soon as one that the platform holds, ${connections} connection(s)`, async (t) => {
    for (const afterMs of [300, 8942, 26_226, 43_510, 60_794, 78_078]) {
      const held = await begins("platform", connections, afterMs);
      // Complete, and with an address alone: then the server is asked for the length first.
      for (const more of [undefined, {}]) {
        const apart = await begins("URL", connections, afterMs, more);
        t.true(Math.abs(apart - held) < 100, `assigned after ${afterMs} ms: ${apart} and ${held} ms`);
      }
      t.true(held <= WITHIN[connections], `assigned after ${afterMs} ms: ${held} ms`);
    }
  });
}
