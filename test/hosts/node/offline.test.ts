// A day without a network, on the Node host's own blocks: a real file, a clock that stands still, the local platform in memory.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { createHost } from "../../../hosts/node/host.js";
import { POINT_HEAD, whole } from "../../../src/agent/queue/record.js";
import { Agent, type TelemetryOptions } from "../../../src/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeFlash } from "../../fakes/flash.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform } from "../../fakes/platform.js";

const DAY_S = 86_400;
const WALL = Date.UTC(2026, 0, 1);
/** At the end all that waits is to be there within this. */
const HOME_MS = 3 * 3_600_000;
const KIB = 1024;
const IN_MEMORY = "/dev/shm";

/** Lives through a day without a network, then one with it. The time between two points is a second. */
async function day(t: ExecutionContext, blocksBytes: number, telemetry: TelemetryOptions) {
  // 86,400 writes, each durable before the next: where there is no file system in memory that takes its time.
  t.timeout(600_000);
  const stateDir = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), "mote-day-"));
  const real = createHost({ stateDir, blocksBytes, log: () => {} });
  t.teardown(() => {
    real.close();
    rmSync(stateDir, { recursive: true });
  });
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const device = platform.create("away", "T1");
  const connect = net.onConnect;
  net.onConnect = (peer) => {
    peer.reset("no network");
    return false;
  };
  const host = { ...fakeHost({ clock, network: net, blocks: new FakeFlash(0, 512) }), blocks: real.blocks };
  const agent = new Agent(host, { baseUrl: "http://platform.test", token: "T1", telemetry });
  const drops: number[] = [];
  agent.on("drop", ({ points }) => drops.push(points));
  agent.start();
  for (let n = 0; n < DAY_S; n++) {
    agent.telemetry.record({ n });
    await clock.advance(1000);
  }
  net.onConnect = connect;
  await clock.advance(HOME_MS);
  const points = platform.points(device, "n");
  const reported = platform.points(device, "moteDroppedFull").at(-1)?.value ?? 0;
  const logged = host.lines.filter((line) => line.includes("points dropped")).length;
  await agent.stop();
  return { points, reported, drops, logged };
}

test.serial("a day offline at a point a second into 16 MiB: all of it arrives, in order", async (t) => {
  const { points, reported, drops } = await day(t, 16 * KIB * KIB, {});
  t.is(points.length, DAY_S);
  t.true(points.every(({ ts, value }, i) => value === i && Math.abs(ts - (WALL + i * 1000)) < 2));
  t.is(reported, 0);
  t.deepEqual(drops, []);
});

test.serial(
  "a day offline into 640 KiB: exactly the oldest sectors are gone, counted, published, and reported once a burst",
  async (t) => {
    const { points, reported, drops, logged } = await day(t, 640 * KIB, { durable: false });
    const lost = DAY_S - points.length;
    t.true(lost > 0);
    t.true(points.every(({ value }, i) => value === lost + i));
    t.is(reported, lost);
    t.is(
      drops.reduce((sum, points) => sum + points, 0),
      lost,
    );
    // 160 sectors, of which one is free and one being written; each holds what fits between header and trailer, and marks of drops.
    const perSector = Math.floor((4096 - 56) / whole(POINT_HEAD + '{"n":10000}'.length));
    const most = Math.floor((4096 - 56) / whole(POINT_HEAD + '{"n":0}'.length));
    t.true(points.length > 157 * (perSector - 2) && points.length <= 159 * perSector, `${points.length}`);
    t.is(logged, drops.length);
    t.true(
      Math.max(...drops) <= most && drops.length <= Math.ceil(lost / (perSector - 4)),
      `${drops.length}`,
    );
  },
);
