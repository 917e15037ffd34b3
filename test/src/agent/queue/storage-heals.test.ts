// What becomes of accepted points when the durable queue's flash fails for a while, or for good: delivered, or counted, over every end of a run.
import test, { type ExecutionContext } from "ava";
import { Device } from "./device.js";

const full = (what: string) => what !== "read";

for (const bufferBytes of [1024, 16_384])
  test(`offline, the disk full for 8 s, free for 15 s, then stopped: no point is gone (${bufferBytes} bytes of memory)`, async (t) => {
    const device = new Device();
    device.start({ telemetry: { bufferBytes } });
    await device.record(3000);
    device.blocks.fails = full;
    await device.record(8000);
    device.blocks.fails = undefined;
    await device.record(15_000);
    const ended = await device.stop();
    t.is(await device.lost(), 0);
    t.is(ended, 0);
    t.deepEqual(device.dropped, {});
    t.deepEqual(device.blocks.violations, []);
  });

test("the disk full up to the end, freed as it is stopped: the last try keeps what is in memory", async (t) => {
  const device = new Device();
  device.start();
  await device.record(3000);
  device.blocks.fails = full;
  await device.record(8000);
  device.blocks.fails = undefined;
  const ended = await device.stop();
  t.is(await device.lost(), 0);
  t.is(ended, 0);
  t.deepEqual(device.dropped, {});
});

for (const [what, fails, forMs] of [
  ["can't be written", full, 20_000],
  // Longer than delivery waits for it.
  ["can't be written or read", () => true, 90_000],
] as const)
  test(`what was dealt with while flash ${what} does not come again, behind later points, when it works`, async (t) => {
    const device = new Device();
    device.start({ telemetry: { bufferBytes: 1024 } });
    await device.record(20_000);
    device.blocks.fails = fails;
    device.up = true;
    await device.record(forMs);
    device.gone();
    device.blocks.fails = undefined;
    // What was in memory only a second before the power went may be counted, although it had just arrived, and 16 points more.
    const lost = await device.lost();
    t.true(lost <= 0 && lost >= -20, `${lost}`);
    const first = [...device.arrived];
    t.deepEqual(
      first,
      first.toSorted((one, other) => one - other),
    );
    // What arrived in the last second may come again, and what was on its way.
    t.true(device.order.length - first.length <= 10, `${device.order.length} of ${first.length}`);
  });

for (const [how, end] of [
  ["stopped", (device: Device) => device.stop()],
  ["without power", (device: Device) => device.clock.advance(2000).then(() => device.gone())],
] as const)
  test(`the disk full for good, then ${how}: the points that it did not take are counted by the next start`, async (t) => {
    const device = new Device();
    device.start({ telemetry: { bufferBytes: 1024 } });
    await device.record(3000);
    device.blocks.fails = full;
    await device.record(20_000);
    await end(device);
    const lost = await device.lost();
    // After a stop exactly; a power loss counts up to 16 points more.
    t.true(lost <= 0 && lost >= (how === "stopped" ? 0 : -16), `${lost}`);
    t.true(device.arrived.size >= 12);
  });

test("disk and store full for good: stop() returns how many points end with it", async (t) => {
  const device = new Device();
  device.start();
  await device.record(3000);
  device.blocks.fails = full;
  device.store.fails = () => true;
  await device.record(2000);
  t.is(await device.stop(), 8);
});

test("disk and store full for good: a wake returns how many points end with it", async (t) => {
  const device = new Device();
  device.start();
  await device.stop();
  device.start();
  const stopped = device.agent.stop();
  await device.clock.advance(100);
  await stopped;
  device.blocks.fails = full;
  device.store.fails = () => true;
  const wake = device.agent.runOnce({ sample: () => ({ n: device.recorded++ }), timeoutMs: 1000 });
  await device.clock.advance(5000);
  t.is(((await wake) as unknown as { unkept: number }).unkept, 1);
});

test("stopped online with a full disk: what is in memory goes out first, within 2 s", async (t) => {
  const device = new Device();
  device.up = true;
  device.start({ telemetry: { batchAgeMs: 60_000 } });
  await device.record(1000);
  await device.clock.advance(60_000);
  device.blocks.fails = full;
  await device.record(1000);
  t.is(device.arrived.size, 4);
  t.is(await device.stop(), 0);
  t.is(device.arrived.size, 8);
});

test("a count in the store is counted once, and gone when flash has it", async (t) => {
  const device = new Device();
  device.start();
  await device.record(1000);
  device.blocks.fails = full;
  await device.record(1000);
  await device.stop();
  device.blocks.fails = undefined;
  t.is(await device.lost(), 0);
  t.is(device.dropped.moteDroppedUnreadable, 4);
  await device.stop();
  device.dropped.moteDroppedUnreadable = 0;
  device.start();
  await device.record(60_000);
  await device.stop();
  t.is(await device.lost(), 4);
  const { dropped } = device.agent.telemetry;
  t.deepEqual(dropped, { full: 0, refused: 0, unreadable: 4 });
  Object.assign(dropped, { unreadable: 5 });
  t.is(device.agent.telemetry.dropped.unreadable, 4, "a copy");
});

test("a store that fails with an old count in it, flash that works: what is dropped from then on is counted as well", async (t) => {
  const device = new Device();
  device.start();
  await device.record(11_000);
  device.blocks.fails = full;
  await device.record(2000);
  await device.stop();
  device.blocks.fails = undefined;
  // Points of the second sector can't be read any more: that shows when the first one's have arrived.
  device.blocks.bytes.fill(0, 512 + 56, 1024);
  device.up = true;
  device.answerMs = 1000;
  device.start();
  await device.clock.advance(500);
  device.store.fails = () => true;
  device.status = 503;
  await device.clock.advance(3000);
  const { unreadable } = device.agent.telemetry.dropped;
  t.true(unreadable > 8, `${unreadable}: those that flash did not take, and those that it lost`);
  device.gone();
  device.store.fails = undefined;
  device.status = 200;
  device.answerMs = 0;
  t.is(await device.lost(), 0);
});

function sectorFails(t: ExecutionContext, what: "write" | "erase"): Promise<void> {
  return (async () => {
    const device = new Device(5);
    device.start();
    const bad = 2 * 512;
    let failures = 0;
    device.blocks.fails = (call, at) => {
      const fails = call === what && at >= bad && at < bad + 512;
      if (fails) failures++;
      return fails;
    };
    device.up = true;
    await device.record(600_000);
    t.true(failures > 0);
    t.is(await device.stop(), 0);
    t.is(await device.lost(), 0);
    t.deepEqual(device.dropped, {});
  })();
}
test("passes over a sector that can't be erased, and uses its neighbours on", (t) => sectorFails(t, "erase"));
test("passes over a sector that can't be written, and uses its neighbours on", (t) =>
  sectorFails(t, "write"));

test("points on both sides of a sector that was passed over outlive a restart", async (t) => {
  const device = new Device(8);
  device.start();
  device.blocks.fails = (call, at) => call === "erase" && at === 3 * 512;
  await device.record(15_000);
  await device.clock.advance(240_000);
  await device.record(3000);
  t.is(device.blocks.erases[3], 0);
  t.true(device.blocks.erases[4]! > 0);
  device.gone();
  t.is(await device.lost(), 0);
  t.is(device.arrived.size, 72);
});

test("tries flash that fails as a whole after 1, 2, 5, 10, 20, 30 and 60 s", async (t) => {
  const device = new Device();
  device.start();
  await device.record(1000);
  const tries: number[] = [];
  let erases = 0;
  device.blocks.fails = (call) => {
    if (call === "erase") erases++;
    if (call !== "read" && tries.at(-1) !== device.clock.now()) tries.push(device.clock.now());
    return call !== "read";
  };
  const from = device.clock.now();
  device.agent.telemetry.record({ n: device.recorded++ });
  await device.clock.advance(360_000);
  // Two sectors at each try.
  t.true(erases >= 8 && erases <= 2 * tries.length, `${erases} erases`);
  t.true(tries.length <= 13, tries.map((at) => (at - from) / 1000).join());
  device.blocks.fails = undefined;
  await device.clock.advance(60_000);
  device.gone();
  t.is(await device.lost(), 0);
  t.deepEqual(device.dropped, {});
});
