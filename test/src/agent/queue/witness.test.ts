// A durable queue that is gone, shortened, older than it was or another device's: its points are counted.
import test from "ava";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

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

/** A device that recorded `points`, of which the platform took `taken`, and stopped, or lost its power. */
function ran(points: number, taken: number, how: "stopped" | "without power", seed = 1): Kept {
  const kept = { bytes: new Uint8Array(8 * SECTOR).fill(0xff), store: new FakeStore() };
  const { outbox } = start(kept, kept.bytes, seed);
  for (let n = 0; n < points; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + taken);
  if (how === "stopped") outbox.close(true);
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
    t.true(next.host.lines.some((line) => line.includes("288 points of it at most are lost")));
    const told: number[] = [];
    next.outbox.watch((points) => told.push(points));
    t.deepEqual(told, [288]);
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

test("counts nothing if nothing waited in the queue that is gone", (t) => {
  const kept = ran(300, 300, "stopped");
  const next = start(kept, blank(kept.bytes));
  t.is(next.outbox.drops, 0);
  t.deepEqual(next.host.lines, []);
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
  outbox.close(true);
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

test("takes a queue as it is if the store knows nothing of it", (t) => {
  const kept = ran(60, 10, "without power");
  kept.store.values.clear();
  const next = start(kept, kept.bytes);
  t.is(drain(next).length, 50);
  t.is(next.outbox.drops, 0);
  t.true(kept.store.values.has("queue"));
});

test("counts no point twice or not at all while the store fails", (t) => {
  const kept = ran(60, 0, "stopped");
  kept.store.fails = () => true;
  const bytes = blank(kept.bytes);
  const first = start(kept, bytes);
  t.is(first.outbox.dropped.unreadable, 60);
  for (let n = 0; n < 20; n++) first.outbox.append(textOf(n), undefined);
  kept.store.fails = undefined;
  const next = start(kept, bytes);
  t.is(drain(next).length, 20);
  t.is(next.outbox.dropped.unreadable, 60);
});
