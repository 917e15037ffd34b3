// Flash that can't be read for a while, at a start or later: what waits there stays, goes out before what came later, and nothing is gone.
import test from "ava";
import fc from "fast-check";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { at } from "../../../fakes/time.js";
import { Device } from "./device.js";
import { rig, textOf, waitingNumbers, waitingStamps } from "./rig.js";

const all = () => true;
const reads = (what: string) => what === "read";

/** A device that stopped with 20 points on flash. */
async function stopped(sectors?: number): Promise<Device> {
  const device = new Device(sectors);
  device.start();
  await device.record(5000);
  await device.stop();
  return device;
}

function inOrder(device: Device): boolean {
  const first = [...device.arrived];
  return first.every((n, i) => i === 0 || n > (first[i - 1] as number));
}

for (const [what, fails] of [
  ["read", reads],
  ["read or written", all],
] as const) {
  test(`flash can't be ${what} in the first 20 s: all points are delivered, in order, each with a time stamp of its own`, async (t) => {
    const device = await stopped();
    device.blocks.fails = fails;
    device.up = true;
    device.start();
    await device.record(20_000);
    t.is(device.arrived.size, 0);
    device.blocks.fails = undefined;
    await device.record(20_000);
    await device.clock.advance(10_000);
    t.is(device.arrived.size, device.recorded);
    t.true(inOrder(device));
    t.is(new Set(device.stamps.values()).size, device.recorded);
    t.deepEqual(device.dropped, {});
  });

  test(`flash can't be ${what} in the first 20 s, and the power goes later: no point is gone, in memory only or before`, async (t) => {
    const device = await stopped();
    device.blocks.fails = fails;
    device.start();
    await device.record(20_000);
    device.blocks.fails = undefined;
    await device.record(20_000);
    device.gone();
    t.is(await device.lost(), 0);
    t.is(device.arrived.size, device.recorded);
    t.true(inOrder(device));
  });

  test(`flash can't be ${what} for five minutes from the start: new points go out after one, and are on flash within one when it can`, async (t) => {
    const device = await stopped();
    device.blocks.fails = fails;
    device.up = true;
    device.start();
    await device.record(300_000);
    t.true(device.arrived.size > 900, `${device.arrived.size}`);
    device.blocks.fails = undefined;
    await device.clock.advance(60_000);
    t.is(device.arrived.size, device.recorded);
    t.is(new Set(device.stamps.values()).size, device.recorded);
    device.up = false;
    await device.record(5000);
    device.gone();
    t.is(await device.lost(), 0);
    t.deepEqual(device.dropped, {});
  });

  test(`flash can't be ${what} for 20 s while points wait there: they are kept, and delivered in order`, async (t) => {
    const device = new Device();
    // Of which memory holds some.
    device.start({ telemetry: { bufferBytes: 1024 } });
    await device.record(20_000);
    device.blocks.fails = fails;
    device.up = true;
    await device.clock.advance(20_000);
    t.is(device.arrived.size, 0);
    device.blocks.fails = undefined;
    await device.clock.advance(10_000);
    t.is(device.arrived.size, device.recorded);
    t.true(inOrder(device));
    t.deepEqual(device.dropped, {});
  });
}

test("flash can be read again while a batch is on its way: the answer to that takes nothing that waits on flash", async (t) => {
  const device = await stopped(64);
  device.blocks.fails = all;
  device.up = true;
  device.answerMs = 20_000;
  device.start();
  // It is tried at 69 s.
  await device.record(65_000);
  t.true(device.arrived.size > 0);
  device.blocks.fails = undefined;
  await device.record(10_000);
  device.answerMs = 0;
  await device.clock.advance(120_000);
  t.is(device.arrived.size, device.recorded);
  t.deepEqual(device.dropped, {});
});

test("the platform refuses all that is sent since flash could not be read: flash is tried between two attempts, and what came meanwhile is there when the power goes", async (t) => {
  const device = await stopped(64);
  device.blocks.fails = all;
  device.up = true;
  device.status = 403;
  device.start();
  await device.record(120_000);
  device.blocks.fails = undefined;
  // The longest wait for the next try of flash; attempts to send are minutes apart by now.
  await device.record(61_000);
  device.gone();
  device.status = 200;
  t.is(await device.lost(), 0);
  t.deepEqual(device.dropped, {});
  t.is(device.arrived.size, device.recorded);
  t.deepEqual(device.dropped, {});
});

test("a sector that can't be read for good holds delivery up for a minute: its points are counted, the others delivered", async (t) => {
  const device = new Device();
  device.start({ telemetry: { bufferBytes: 1024 } });
  await device.record(20_000);
  device.blocks.fails = (what, at) => what === "read" && at < 512;
  device.up = true;
  await device.clock.advance(59_000);
  t.is(device.arrived.size, 0);
  await device.clock.advance(15_000);
  const { moteDroppedUnreadable = 0 } = device.dropped;
  t.true(moteDroppedUnreadable > 5 && moteDroppedUnreadable < 20, `${moteDroppedUnreadable}`);
  t.is(device.arrived.size + moteDroppedUnreadable, device.recorded);
});

test("stopped online while flash can't be read: what is in memory goes out first, within 2 s", async (t) => {
  const device = await stopped();
  device.blocks.fails = all;
  device.up = true;
  device.start();
  await device.record(5000);
  t.is(device.arrived.size, 0);
  t.is(await device.stop(), 0);
  t.is(device.arrived.size, 20);
  device.blocks.fails = undefined;
  t.is(await device.lost(), 0);
});

test("a wake does not wait for flash that can't be read: its point goes out in it", async (t) => {
  const device = new Device();
  device.start();
  await device.stop();
  device.blocks.fails = all;
  device.up = true;
  device.start();
  const halt = device.agent.stop();
  await device.clock.advance(100);
  await halt;
  const wake = device.agent.runOnce({ sample: () => ({ n: device.recorded++ }), timeoutMs: 10_000 });
  await device.clock.advance(10_000);
  t.is((await wake).delivered, 1);
});

test("what an earlier run counted, and this one while flash could not be read, is counted once when it can", async (t) => {
  const device = new Device();
  device.start({ telemetry: { bufferBytes: 1024, drop: "newest" } });
  await device.record(3000);
  device.blocks.fails = (what) => what !== "read";
  await device.record(4000);
  await device.stop();
  device.blocks.fails = all;
  device.start({ telemetry: { bufferBytes: 1024, drop: "newest" } });
  await device.record(20_000);
  const { full } = device.agent.telemetry.dropped;
  t.true(full > 20, `${full}`);
  device.blocks.fails = undefined;
  await device.clock.advance(61_000);
  const { dropped } = device.agent.telemetry;
  t.deepEqual([dropped.full, dropped.refused, dropped.unreadable], [full, 0, 16]);
  device.gone();
  t.is(await device.lost(), 0);
  t.deepEqual(device.dropped, { moteDroppedFull: full, moteDroppedUnreadable: 16 });
});

test("a try at a stop does not put the next off: flash that works again is written within a minute", async (t) => {
  const device = new Device(32);
  device.start();
  device.blocks.fails = all;
  await device.record(23_000);
  // Its try erases, and the next may only a minute later, when none was due.
  void device.agent.stop();
  await device.clock.advance(2000);
  device.agent.start();
  device.blocks.fails = undefined;
  await device.record(61_000);
  device.gone();
  t.is(await device.lost(), 0);
  t.deepEqual(device.dropped, {});
});

const START = fc.record({
  wall: fc.boolean(),
  points: fc.nat(6),
  learns: fc.boolean(),
  ms: fc.nat(5000),
  back: fc.nat(1400),
});

test("whatever was known of the time before and since: points of flash that is read late keep their order, and a time stamp of their own", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(START, { minLength: 1, maxLength: 3 }), START, async (before, late) => {
      const [blocks, store] = [new FakeFlash(8 * 512, 512), new FakeStore()];
      let wall = Date.UTC(2026, 0, 1);
      let n = 0;
      const run = async (known: typeof late, failing: boolean) => {
        const flash = new FakeFlash(blocks.size, 512, blocks.bytes);
        if (failing) flash.fails = all;
        wall += 500 - known.back;
        const made = rig(flash, {}, store, known.wall ? wall : null);
        for (let i = 0; i < known.points; i++) made.outbox.append(textOf(n++), undefined);
        await made.host.clock.advance(known.ms);
        wall += known.ms;
        if (known.learns) made.time.learn(at(wall));
        for (let i = 0; i < known.points; i++) made.outbox.append(textOf(n++), undefined);
        return { ...made, flash };
      };
      for (const known of before) await run(known, false);
      const made = await run(late, true);
      made.flash.fails = undefined;
      made.outbox.close();
      made.outbox.append(textOf(n++), undefined);
      made.time.learn(at(wall));
      t.deepEqual(waitingNumbers(made.outbox), [...Array(n).keys()]);
      const stamps = waitingStamps(made);
      t.deepEqual([...new Set(stamps)], stamps.toSorted(), stamps.join());
      // A start after it sees the same.
      const next = rig(new FakeFlash(blocks.size, 512, blocks.bytes), {}, store, null);
      next.time.learn(at(wall + 10_000));
      t.deepEqual(waitingStamps(next), stamps);
    }),
    { numRuns: 500 },
  );
});
