// A full queue, and points that only memory holds: what is sent, confirmed and counted stays right.
import test, { type ExecutionContext } from "ava";
import type { TelemetryOptions } from "../../../../src/agent/queue/options.js";
import { BatchBuilder } from "../../../../src/agent/telemetry/batch.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { at } from "../../../fakes/time.js";
import { type Rig, rig, textOf, waitingStamps } from "./rig.js";

const T0 = 1_700_000_000_000;

/** A device with a queue of `sectors`, and its next starts. */
class Starts {
  readonly store = new FakeStore();
  readonly delivered = new Set<number>();
  blocks: FakeFlash;
  recorded = 0;
  one!: Rig;

  constructor(sectors: number) {
    this.blocks = new FakeFlash(sectors * 512, 512);
  }

  start(options: TelemetryOptions = {}, wall: number | null = T0): Rig {
    this.blocks = new FakeFlash(this.blocks.size, 512, this.blocks.bytes);
    this.one = rig(this.blocks, options, this.store, wall);
    return this.one;
  }

  add(points: number): void {
    for (let n = 0; n < points; n++) this.one.outbox.append(textOf(this.recorded++), undefined);
  }

  /** Sends the next batch, which arrives. */
  send(t: ExecutionContext, most = 50): void {
    const { outbox } = this.one;
    const batch = new BatchBuilder(outbox).build(most);
    if (!batch) return;
    const points = [JSON.parse(Buffer.from(batch.body).toString())].flat();
    const numbers: number[] = points.map(({ values }) => values.n);
    t.true(
      numbers.every((n, i) => i === 0 || n > numbers[i - 1]!),
      `${numbers}`,
    );
    for (const n of numbers) this.delivered.add(n);
    outbox.confirm(batch.number + batch.points);
  }

  /** Points neither delivered nor counted once all were sent. */
  lost(t: ExecutionContext): number {
    for (let tries = 0; this.one.outbox.waiting > 0 && tries < 50; tries++) this.send(t);
    t.is(this.one.outbox.waiting, 0, "nothing waits for ever");
    return this.recorded - this.delivered.size - this.one.outbox.drops;
  }
}

test("a correction that drops the oldest points while a batch is built takes no others", (t) => {
  for (let points = 20; points < 60; points++) {
    const device = new Starts(3);
    const { host } = device.start({ bufferBytes: 1024 });
    device.add(points);
    host.clock.setWall(T0 + 5000);
    device.send(t, 20);
    t.is(device.lost(t), 0, `${points} points`);
  }
});

test("a full queue that keeps its oldest points sends them once the time is known", (t) => {
  for (let points = 10; points < 40; points++) {
    const device = new Starts(3);
    const { time } = device.start({ drop: "newest", bufferBytes: 1024 }, null);
    device.add(points);
    time.learn(at(T0));
    t.is(device.lost(t), 0, `${points} points`);
    t.true(device.delivered.size >= 10);
  }
});

const IN_MEMORY: TelemetryOptions = { durable: false, drop: "newest" };

for (const isLast of [true, false])
  test(`counts the points that a full queue does not take before a ${isLast ? "stop" : "sleep"}`, (t) => {
    const device = new Starts(3);
    const { outbox } = device.start(IN_MEMORY);
    device.add(40);
    outbox.sync();
    device.add(5);
    t.is(outbox.saveAll(isLast), 0);
    const before = outbox.waiting + outbox.drops;
    device.start(IN_MEMORY);
    t.is(device.one.outbox.waiting + device.one.outbox.drops, before);
    t.is(device.lost(t), 0);
  });

test("a stop says how many points neither a full queue nor the store takes", (t) => {
  const device = new Starts(3);
  const { outbox } = device.start(IN_MEMORY);
  device.add(40);
  outbox.sync();
  device.store.fails = () => true;
  const ended = outbox.saveAll(true);
  device.store.fails = undefined;
  device.start(IN_MEMORY);
  t.true(ended > 5);
  t.is(device.lost(t) - ended, 0);
});

test("points behind those that a full queue lost get their own numbers", (t) => {
  for (let more = 1; more < 20; more++) {
    const device = new Starts(3);
    const options = { drop: "newest", bufferBytes: 1024 } as const;
    device.start(options);
    device.add(30);
    device.blocks.fails = (call) => call !== "read";
    device.add(3);
    device.one.outbox.saveAll(true);
    device.start(options);
    device.send(t, 3);
    device.add(more);
    device.send(t, 3);
    device.add(more);
    device.one.outbox.saveAll(true);
    device.start(options);
    t.is(device.lost(t), 0, `${more} points`);
  }
});

test("a report of drops after points were delivered from memory changes no number", (t) => {
  const device = new Starts(4);
  const { outbox } = device.start({ durable: false });
  device.add(5);
  outbox.dropRefused(outbox.first + 1);
  device.send(t);
  outbox.dropsReported(outbox.drops);
  device.add(3);
  outbox.sync();
  const { first, next } = outbox;
  device.start({ durable: false });
  t.deepEqual([device.one.outbox.first, device.one.outbox.next], [first, next]);
  t.is(device.lost(t), 0);
});

test("the power fails while a full queue takes no point from memory: each is counted", async (t) => {
  const device = new Starts(2);
  const options = { drop: "newest", bufferBytes: 1024 } as const;
  device.start(options);
  device.blocks.fails = (call) => call !== "read";
  device.add(40);
  await device.one.host.clock.advance(2500);
  device.blocks.fails = undefined;
  device.add(1);
  const { next } = device.one.outbox;
  device.start(options);
  // Rejected points had no number.
  t.true(device.one.outbox.next >= next, `${device.one.outbox.next} of ${next}`);
});

test("points that a full queue leaves in memory go to flash once it has room", async (t) => {
  const device = new Starts(3);
  const { outbox, host } = device.start(IN_MEMORY);
  device.add(40);
  await host.clock.advance(5000);
  device.send(t, 30);
  await host.clock.advance(1000);
  device.start(IN_MEMORY);
  t.is(device.one.outbox.waiting, outbox.waiting);
  t.is(device.lost(t), 0);
});

test("starts that cannot write and record nothing count no more points", async (t) => {
  const device = new Starts(16);
  device.start();
  device.add(1);
  for (let n = 0; n < 5; n++) {
    const bytes = device.blocks.bytes;
    device.blocks = new FakeFlash(16 * 512, 512, bytes);
    device.blocks.fails = (call) => call !== "read";
    device.one = rig(device.blocks, {}, device.store, T0);
    device.one.outbox.agentStarts(false);
    if (n === 0) device.add(1);
    await device.one.host.clock.advance(5000);
  }
  device.start();
  t.true(device.lost(t) <= 0);
  t.is(device.delivered.size, 1);
  t.true(device.one.outbox.drops <= 17, `${device.one.outbox.drops}`);
});

test("slow flash gets all points within seconds after it failed", async (t) => {
  const device = new Starts(32);
  const { clock } = device.start().host;
  const now = clock.now.bind(clock);
  let lateMs = 0;
  clock.now = () => now() + lateMs;
  device.blocks.fails = (call) => call !== "read";
  device.add(60);
  device.blocks.fails = (call) => {
    if (call === "write") lateMs += 700;
    return false;
  };
  await clock.advance(20_000);
  device.start();
  t.is(device.lost(t), 0);
  t.is(device.delivered.size, 60);
});

test("a point larger than all those in memory replaces them", (t) => {
  for (let length = 800; length < 990; length++) {
    const { outbox } = rig(new FakeFlash(0, 512), { bufferBytes: 1024 });
    for (const x of [100, length])
      t.true(outbox.append(new TextEncoder().encode(`{"s":"${"x".repeat(x)}"}`), undefined));
    t.is(outbox.waiting + outbox.drops, 2, `${length}`);
  }
});

test("a correction holds for points of this start that wait behind an earlier one's", async (t) => {
  const device = new Starts(8);
  const hour = 3_600_000;
  await device.start().host.clock.advance(hour);
  device.add(1);
  const { outbox, time } = device.start({}, null);
  device.add(3);
  device.send(t);
  time.learn(at(T0 + 9 * hour));
  device.send(t, 1);
  time.learn(at(T0 + 3 * hour));
  const { body } = new BatchBuilder(outbox).build(50)!;
  const stamps: number[] = JSON.parse(Buffer.from(body).toString()).map(({ ts }: { ts: number }) => ts);
  t.is(stamps.length, 2);
  for (const ts of stamps) t.true(Math.abs(ts - T0 - 3 * hour) < 1000, `${ts}`);
});

test("time stamps of points delivered from memory are not used again after a stop", (t) => {
  const device = new Starts(4);
  device.start({ durable: false });
  device.add(10);
  const sent = waitingStamps(device.one);
  device.one.outbox.confirm(10);
  device.one.outbox.saveAll(true);
  device.start({ durable: false }, T0 - 3);
  device.add(10);
  for (const ts of waitingStamps(device.one)) t.false(sent.includes(ts));
});

test("a start that can't read the queue counts its points, and stamps its own", (t) => {
  const device = new Starts(4);
  const hour = 3_600_000;
  device.start();
  device.add(1);
  device.start({}, T0 + hour);
  device.add(3);
  device.one.outbox.saveAll(true);
  device.blocks.fails = (call) => call === "read";
  rig(device.blocks, {}, device.store, T0 + 2 * hour).outbox.append(textOf(9), undefined);
  const next = device.start({}, T0 + 3 * hour);
  t.deepEqual(waitingStamps(next), [T0 + 2 * hour]);
  t.is(next.outbox.dropped.unreadable, 4);
});

test("two epochs whose times are lost share no time stamp", (t) => {
  const { stamps } = new Starts(4).start().outbox;
  const found = [7, 8, 9].map((epoch) => {
    stamps.prepare(epoch, 5);
    return stamps.timeOf(epoch, 5)!.start;
  });
  t.is(new Set(found).size, 3);
  t.deepEqual(found.toSorted(), found);
});
