// 1,000 points recorded in one tick, as they are on the platform afterwards.

import { Agent } from "../../../../src/index.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";
import { FakeNet } from "../../../fakes/net.js";
import { FakePlatform } from "../../../fakes/platform.js";
import { test } from "../rig.js";
import { upTo } from "./rig.js";

const POINTS = 1000;
const SECTORS = 16;
const NOW = Date.UTC(2026, 0, 1);
/** More than the points take: without blocks all of them wait in memory. */
const BUFFER_BYTES = 65_536;

const PLACES = [
  ["on flash at once", SECTORS, true],
  ["on flash later", SECTORS, false],
  ["in memory", 0, false],
] as const;

for (const timestamps of ["device", "platform"] as const) {
  // All have the same key: of points without a time stamp of their own each is a request.
  const requests = timestamps === "device" ? POINTS / 50 : POINTS;
  for (const [place, sectors, durable] of PLACES) {
    test(`1,000 points in one tick, ${place}, with time stamps of the ${timestamps}: 1,000 points in order, in ${requests} requests`, async (t) => {
      const clock = new FakeClock(NOW);
      const net = new FakeNet(clock);
      const platform = new FakePlatform(clock, net);
      const device = platform.create("burst", "T1");
      const host = fakeHost({ clock, network: net, blocks: new FakeFlash(sectors * 4096, 4096) });
      const telemetry = { timestamps, durable, ...(sectors === 0 && { bufferBytes: BUFFER_BYTES }) };
      const agent = new Agent(host, { baseUrl: "http://platform.test", token: "T1", telemetry });
      agent.start();
      await clock.advance(5000);
      for (let n = 0; n < POINTS; n++) t.true(agent.telemetry.record({ n }));
      await clock.advance(60_000);
      const points = platform.points(device, "n");
      t.deepEqual(
        points.map(({ value }) => value),
        upTo(POINTS),
      );
      t.is(new Set(points.map(({ ts }) => ts)).size, POINTS);
      if (timestamps === "device") t.deepEqual([points[0]!.ts, points.at(-1)!.ts], [NOW + 5000, NOW + 5999]);
      t.is(platform.seen.filter(({ path }) => path.endsWith("/telemetry")).length, requests);
      const stopped = agent.stop();
      await clock.advance(0);
      await stopped;
    });
  }
}
