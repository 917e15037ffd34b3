// What becomes of accepted points when the durable queue's flash fails for a while, or for good:
// delivered, or counted, over every end of a run.
import test from "ava";
import { OPENING_BYTES } from "../../../../src/agent/queue/record.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { Device } from "./device.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

const full = (what: string) => what !== "read";

test("the disk full up to the end, freed as it is stopped: the last try keeps what is in memory", async (t) => {
  const device = new Device();
  device.boot();
  await device.record(3000);
  device.blocks.fails = full;
  await device.record(8000);
  device.blocks.fails = undefined;
  const ended = await device.stop();
  t.is(await device.lost(), 0);
  t.is(ended, 0);
  t.deepEqual(device.dropped, {});
});

for (const [how, end] of [
  ["stopped", (device: Device) => device.stop()],
  ["without power", (device: Device) => device.clock.advance(2000).then(() => device.gone())],
] as const)
  test(`the disk full for good, then ${how}: the points that it did not take are counted by the next start`, async (t) => {
    const device = new Device();
    device.boot({ telemetry: { bufferBytes: 1024 } });
    await device.record(3000);
    device.blocks.fails = full;
    await device.record(20_000);
    await end(device);
    const lost = await device.lost();
    // After a stop exactly; a power loss counts up to 16 points more.
    t.true(lost <= 0 && lost >= (how === "stopped" ? 0 : -16), `${lost}`);
    t.true(device.arrived.size >= 12);
  });

test("disk and store full for good: stop() also returns the points that were dropped for lack of room", async (t) => {
  const device = new Device();
  device.boot({ telemetry: { bufferBytes: 1024 } });
  await device.record(3000);
  device.blocks.fails = full;
  device.store.fails = () => true;
  await device.record(60_000);
  t.true(device.agent.telemetry.dropped.full > 100);
  const ended = await device.stop();
  device.blocks.fails = undefined;
  device.store.fails = undefined;
  t.is((await device.lost()) - ended, 0);
});

for (const [what, done] of [
  ["erase", "erased"],
  ["write", "written"],
] as const)
  test(`passes over a sector that can't be ${done}, and uses its neighbours on`, async (t) => {
    const device = new Device(5);
    device.boot();
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
  });

test("tries flash that fails as a whole after 1, 2, 5, 10, 20, 30 and 60 s", async (t) => {
  const device = new Device();
  device.boot();
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

// Flash that can't be read for a while or for good: what waits there is kept, or counted.

const all = () => true;
const reads = (what: string) => what === "read";
const MINUTE = 60_000;

/** A device that stopped with 20 points on flash. */
async function stopped(sectors?: number): Promise<Device> {
  const device = new Device(sectors);
  device.boot();
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
  test(`keeps points that can't be ${what} for 20 s, and delivers them in order`, async (t) => {
    const device = new Device();
    // Of which memory holds some.
    device.boot({ telemetry: { bufferBytes: 1024 } });
    await device.record(20_000);
    device.blocks.fails = fails;
    device.up = true;
    await device.clock.advance(20_000);
    t.is(device.arrived.size, 0);
    device.blocks.fails = undefined;
    await device.clock.advance(MINUTE);
    t.is(device.arrived.size, device.recorded);
    t.true(inOrder(device));
    t.deepEqual(device.dropped, {});
  });

  test(`counts the points of flash that can't be ${what} at the start, and delivers new ones`, async (t) => {
    const device = await stopped();
    device.blocks.fails = fails;
    device.up = true;
    device.boot();
    await device.record(20_000);
    await device.clock.advance(MINUTE);
    t.is(device.arrived.size, 80);
    t.deepEqual(device.dropped, { moteDroppedUnreadable: 20 });
    device.blocks.fails = undefined;
    await device.record(65_000);
    device.gone();
    t.is(await device.lost(), 0);
    t.deepEqual(device.dropped, { moteDroppedUnreadable: 20 });
  });
}

test("counts a queue that becomes readable after the start, and delivers what is recorded meanwhile", async (t) => {
  for (const points of [10, 20, 30, 40, 50, 60]) {
    const device = new Device(4);
    device.up = true;
    device.boot({ telemetry: { batchAgeMs: 100 } });
    await device.record(points * 250);
    device.status = 503;
    await device.record(3000);
    await device.stop();
    device.blocks.fails = () => true;
    device.status = 200;
    device.boot();
    await device.record(20_000);
    device.blocks.fails = undefined;
    await device.record(30_000);
    await device.stop();
    t.is(await device.lost(), 0, `${points}`);
    t.deepEqual(device.dropped, { moteDroppedUnreadable: 12 }, `${points}`);
  }
});

test("counts the points of a newest sector whose records can't be read at the start", async (t) => {
  const device = new Device();
  device.boot();
  await device.record(5000);
  device.gone();
  device.blocks.fails = (what, at) => what === "read" && at % 512 >= OPENING_BYTES;
  device.boot();
  await device.record(2000);
  device.gone();
  device.blocks.fails = undefined;
  t.true((await device.lost()) <= 0);
  t.true(device.dropped.moteDroppedUnreadable! > 0);
});

test("gives up a sector that can't be read for a minute: its points are counted, the others delivered", async (t) => {
  const device = new Device();
  device.boot({ telemetry: { bufferBytes: 1024 } });
  await device.record(20_000);
  device.blocks.fails = (what, at) => what === "read" && at < 512;
  device.up = true;
  await device.clock.advance(59_000);
  t.is(device.arrived.size, 0);
  await device.clock.advance(90_000);
  const { moteDroppedUnreadable = 0 } = device.dropped;
  t.true(moteDroppedUnreadable > 5 && moteDroppedUnreadable < 20, `${moteDroppedUnreadable}`);
  t.is(device.arrived.size + moteDroppedUnreadable, device.recorded);
});

test("counts or delivers every point when any three reads of a start fail", (t) => {
  const blocks = new FakeFlash(6 * 512, 512);
  const store = new FakeStore();
  const { outbox } = rig(blocks, {}, store);
  let confirmed = 0;
  for (let n = 0; n < 30; n++) {
    outbox.append(textOf(n), undefined);
    if (n % 3 === 0) outbox.confirm(outbox.first + 1);
    if (n % 3 === 0) confirmed++;
  }
  for (let failing = 1; failing <= 20; failing++) {
    const copy = new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes.slice());
    let read = 0;
    copy.fails = (what) => what === "read" && ++read >= failing && read < failing + 3;
    const made = rig(copy, {}, new FakeStore(new Map(store.values)));
    copy.fails = undefined;
    let delivered = 0;
    while (made.outbox.waiting > 0) {
      const found = waitingNumbers(made.outbox);
      delivered += found.length;
      made.outbox.confirm(made.outbox.first + found.length);
    }
    const { drops } = made.outbox;
    t.true(confirmed + delivered + drops >= 30, `read ${failing}: ${delivered} and ${drops}`);
    t.true(drops <= 30 + 16, `${drops}`);
    t.true(delivered >= 10, `read ${failing}: ${delivered} points of 20, of two sectors or more`);
  }
});

test("the power fails while points that waited for flash are written: each is there or counted", async (t) => {
  for (let cut = 0; cut <= 600; cut += 4) {
    const blocks = new FakeFlash(8 * SECTOR, SECTOR);
    const store = new FakeStore();
    const { outbox, host } = rig(blocks, {}, store);
    for (let n = 0; n < 3; n++) outbox.append(textOf(n), undefined);
    outbox.confirm(3);
    blocks.fails = (call) => call !== "read";
    for (let n = 3; n < 12; n++) outbox.append(textOf(n), undefined);
    await host.clock.advance(3000);
    blocks.fails = undefined;
    let left = cut;
    const kept: { bytes?: Uint8Array; store?: FakeStore } = {};
    const write = blocks.write.bind(blocks);
    blocks.write = (at, bytes) => {
      if (kept.bytes) return false;
      const part = bytes.subarray(0, left);
      left -= part.length;
      const isWritten = write(at, part);
      if (part.length === bytes.length) return isWritten;
      kept.bytes = blocks.bytes.slice();
      kept.store = new FakeStore(new Map(store.values));
      return false;
    };
    await host.clock.advance(5000);
    const next = start({ bytes: blocks.bytes, store: kept.store ?? store }, kept.bytes ?? blocks.bytes);
    const found = drain(next).length;
    const { unreadable, full } = next.outbox.dropped;
    t.true(found + unreadable + full >= 9, `${cut} bytes: ${found} found, ${unreadable} counted`);
    t.true(found + unreadable + full <= 9 + 16 + 1, `${cut} bytes: ${found} found, ${unreadable} counted`);
  }
});

test("flash fails from any write on, and the power at once after it: each point is there or counted", (t) => {
  for (let writes = 0; writes < 380; writes++) {
    const kept: Kept = { bytes: new Uint8Array(8 * SECTOR).fill(0xff), store: new FakeStore() };
    const blocks = new FakeFlash(8 * SECTOR, SECTOR, kept.bytes);
    const { outbox } = rig(blocks, {}, kept.store);
    let left = writes;
    blocks.fails = (call) => call === "write" && left-- <= 0;
    let points = 0;
    for (; left > 0 && points < 400; points++) outbox.append(textOf(points), undefined);
    for (let more = 0; more < 3; more++) outbox.append(textOf(points++), undefined);
    const next = start(kept, blocks.bytes.slice());
    const found = drain(next).length;
    const { unreadable, full } = next.outbox.dropped;
    const counted = `${writes} writes: ${found} of ${points} found, ${unreadable} counted`;
    t.true(found + unreadable + full >= points, counted);
    t.true(found + unreadable + full <= points + SECTOR_POINTS, counted);
  }
});

// A durable queue that is gone, shortened, older than it was or another device's: its points are
// counted.

const SECTOR = 4096;
/** Points that a sector holds at most: what a power loss may add to the count. */
const SECTOR_POINTS = 165;

interface Kept {
  readonly bytes: Uint8Array;
  readonly store: FakeStore;
}

/** The next start, whose blocks hold `bytes`. */
function start({ store }: Kept, bytes: Uint8Array, seed = 1) {
  return rig(new FakeFlash(bytes.length, SECTOR, bytes), {}, store, undefined, seed);
}

/**
 * A device that recorded `points`, of which the platform took `taken`, and stopped, or lost its
 * power.
 */
function ran(points: number, taken: number, how: "stopped" | "without power", seed = 1): Kept {
  const kept = { bytes: new Uint8Array(8 * SECTOR).fill(0xff), store: new FakeStore() };
  const { outbox } = start(kept, kept.bytes, seed);
  for (let n = 0; n < points; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + taken);
  if (how === "stopped") outbox.saveAll(true);
  return kept;
}

const blank = (bytes: Uint8Array) => new Uint8Array(bytes.length).fill(0xff);

/** Delivers all that waits; the numbers. */
function drain({ outbox }: ReturnType<typeof start>): number[] {
  const found: number[] = [];
  while (outbox.waiting > 0) {
    const points = waitingNumbers(outbox);
    found.push(...points);
    outbox.confirm(outbox.first + points.length);
  }
  return found;
}

for (const [what, damage] of [
  ["erased", blank],
  ["overwritten by something else", (bytes: Uint8Array) => bytes.map((_, i) => (i * 31) & 0xff)],
] as const) {
  test(`counts the waiting points of a queue that is ${what}: exactly after a stop`, (t) => {
    const kept = ran(300, 12, "stopped");
    const next = start(kept, damage(kept.bytes));
    t.deepEqual(next.outbox.dropped.unreadable, 288);
    t.is(next.outbox.waiting, 0);
    t.true(next.host.lines.some((line) => line.includes("at most 288 points are lost")));
    let calls = 0;
    next.outbox.watch(() => calls++);
    t.is(calls, 1);
    t.deepEqual(next.outbox.counted, { full: 0, refused: 0, unreadable: 0 });
  });

  test(`counts the waiting points of a queue that is ${what}: at most a sector too many after a power loss`, (t) => {
    const kept = ran(300, 12, "without power");
    const { unreadable } = start(kept, damage(kept.bytes)).outbox.dropped;
    t.true(unreadable >= 288 && unreadable <= 300 + SECTOR_POINTS, `${unreadable}`);
  });
}

test("counts a queue that is gone once, however often it starts, and goes on counting", (t) => {
  const kept = ran(60, 0, "stopped");
  const bytes = blank(kept.bytes);
  start(kept, bytes);
  start(kept, bytes);
  const next = start(kept, bytes);
  t.is(next.outbox.dropped.unreadable, 60);
  for (let n = 0; n < 20; n++) next.outbox.append(textOf(n), undefined);
  const last = start(kept, bytes);
  t.is(drain(last).length, 20);
  t.is(last.outbox.dropped.unreadable, 60);
});

test("counts the points of sectors that a shortened file lacks, and delivers the others", (t) => {
  for (const how of ["stopped", "without power"] as const)
    for (let sectors = 2; sectors < 8; sectors++) {
      const kept = ran(480, 7, how);
      const next = start(kept, kept.bytes.slice(0, sectors * SECTOR));
      const found = drain(next);
      const { unreadable, full } = next.outbox.dropped;
      const lost = 480 - 7 - found.length;
      t.true(unreadable + full >= lost, `${sectors} sectors: ${unreadable} of ${lost}`);
      if (how === "stopped") t.is(unreadable + full, lost, `${sectors} sectors`);
      t.true(unreadable + full <= lost + SECTOR_POINTS, `${sectors} sectors: ${unreadable} of ${lost}`);
      t.true(found.every((n, i) => n > (found[i - 1] ?? -1)));
    }
});

test("counts the points that an older copy of the queue lacks, and delivers none twice", (t) => {
  const kept = ran(100, 0, "without power");
  const older = kept.bytes.slice();
  const { outbox } = start(kept, kept.bytes);
  outbox.confirm(outbox.first + 100);
  for (let n = 100; n < 300; n++) outbox.append(textOf(n), undefined);
  outbox.saveAll(true);
  const next = start(kept, older);
  t.deepEqual(drain(next), []);
  t.is(next.outbox.dropped.unreadable, 200);
});

test("counts its own points if the queue is another device's, and delivers those", (t) => {
  const kept = ran(60, 0, "stopped");
  const other = ran(500, 480, "stopped", 2);
  const next = start(kept, other.bytes);
  t.is(drain(next).length, 20);
  t.is(next.outbox.dropped.unreadable, 60);
  t.is(start(kept, other.bytes).outbox.dropped.unreadable, 60);
});

test("writes the store once a sector, not for each point", (t) => {
  const kept = ran(0, 0, "stopped");
  kept.store.changes.length = 0;
  const { outbox } = start(kept, kept.bytes);
  for (let n = 0; n < 5000; n++) {
    outbox.append(textOf(n), undefined);
    if (n % 10 === 9) outbox.confirm(outbox.next);
  }
  const sectors = kept.store.changes.length;
  t.true(sectors >= 60 && sectors <= 100, `${sectors} writes`);
  const row = kept.store.get("queue")!;
  t.true(row.length < 128, `${row.length} bytes`);
});

test("takes a queue as it is if the store knows nothing of it, and notes it there", (t) => {
  const kept = ran(60, 10, "without power");
  kept.store.values.clear();
  const next = start(kept, kept.bytes);
  t.is(drain(next).length, 50);
  t.is(next.outbox.drops, 0);
  t.true(kept.store.values.has("queue"));
});
