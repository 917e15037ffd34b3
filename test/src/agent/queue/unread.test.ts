// Sectors that cannot be read for a while, or for good: their points are delivered later or
// counted, each under a time stamp of its own.
import test from "ava";
import { OPENING_BYTES } from "../../../../src/agent/queue/record.js";
import { BatchBuilder } from "../../../../src/agent/telemetry/batch.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { at } from "../../../fakes/time.js";
import { upTo } from "../telemetry/rig.js";
import { type Rig, rig, textOf } from "./rig.js";

const T0 = 1_700_000_000_000;
const HOUR = 3_600_000;

/** A device that starts again and again, and the time stamps of what it delivered. */
class Starts {
  readonly delivered = new Map<number, number>();
  blocks = new FakeFlash(16 * 512, 512);
  #store = new FakeStore();
  #recorded = 0;

  start(wall: number | null, fails?: FakeFlash["fails"]): Rig {
    this.blocks = new FakeFlash(16 * 512, 512, this.blocks.bytes);
    this.blocks.fails = fails;
    const one = rig(this.blocks, {}, this.#store, wall);
    this.blocks.fails = undefined;
    return one;
  }

  add({ outbox }: Rig, points: number): void {
    for (let n = 0; n < points; n++) outbox.append(textOf(this.#recorded++), undefined);
  }

  send({ outbox }: Rig, most = 50): void {
    const batch = new BatchBuilder(outbox).build(most);
    if (!batch) return;
    for (const { ts, values } of [JSON.parse(Buffer.from(batch.body).toString())].flat())
      this.delivered.set(values.n, ts);
    outbox.confirm(batch.number + batch.points);
  }

  /** Points neither delivered nor counted once all were sent. */
  lost(one: Rig): number {
    for (let tries = 0; one.outbox.waiting > 0 && tries < 50; tries++) this.send(one);
    return this.#recorded - this.delivered.size - one.outbox.drops;
  }

  /** The sectors in use, the newest first. */
  get sectors(): number[] {
    const { bytes } = this.blocks;
    const numbers = new DataView(bytes.buffer, bytes.byteOffset);
    const sequence = (sector: number) => numbers.getUint32(sector * 512 + 16, true);
    const used = upTo(16).filter((sector) => sequence(sector) !== 0xffffffff);
    return used.sort((one, other) => sequence(other) - sequence(one));
  }
}

const sectorOf = (at: number) => Math.floor(at / 512);

for (const sectors of [1, 2, 3])
  test(`points behind ${sectors} sectors that one start can't read are not lost in the next`, (t) => {
    for (let points = 1; points < 12; points++) {
      const device = new Starts();
      const first = device.start(T0);
      device.add(first, 60);
      first.outbox.saveAll(true);
      const bad = device.sectors.slice(0, sectors);
      device.add(
        device.start(T0 + HOUR, (call, at) => call === "read" && bad.includes(sectorOf(at))),
        points,
      );
      const last = device.start(T0 + 2 * HOUR);
      t.true(device.lost(last) <= 0, `${points}: ${device.lost(last)}`);
      t.is(new Set(device.delivered.values()).size, device.delivered.size);
    }
  });

test("a start that can't read the newest points before the time is known gives none of their time stamps", (t) => {
  const device = new Starts();
  device.add(device.start(null), 5);
  const second = device.start(null, (call, at) => call === "read" && at % 512 >= OPENING_BYTES);
  device.add(second, 5);
  const last = device.start(null);
  last.time.learn(at(T0));
  t.true(device.lost(last) <= 0);
  t.is(device.delivered.size, 10);
  t.is(new Set(device.delivered.values()).size, 10);
});

test("a free sector that can't be read makes no start count points", (t) => {
  const device = new Starts();
  device.add(device.start(T0), 1);
  for (let n = 1; n < 6; n++) {
    const one = device.start(T0 + n * HOUR, (_, at) => sectorOf(at) === 12);
    device.add(one, 1);
    device.send(one);
    t.is(one.outbox.drops, 0);
  }
  t.is(device.delivered.size, 6);
});

test("points wait while flash can't tell their time, and no longer than a minute", async (t) => {
  for (const isLasting of [false, true]) {
    const device = new Starts();
    const first = device.start(null);
    device.add(first, 20);
    first.time.learn(at(T0));
    device.add(first, 1);
    const one = device.start(T0 + HOUR);
    device.add(one, 1);
    const oldest = device.sectors.at(-1);
    device.blocks.fails = (call, at) => call === "read" && sectorOf(at) !== oldest;
    device.send(one, 5);
    t.is(device.delivered.size, 0);
    await one.host.clock.advance(isLasting ? 61_000 : 1000);
    if (!isLasting) device.blocks.fails = undefined;
    device.send(one, 5);
    t.is(device.delivered.size, 5);
    const hours = (device.delivered.get(0)! - T0) / HOUR;
    t.true(isLasting || Math.abs(hours) < 0.1, `${hours}`);
  }
});

test("a damaged point does not hide when its epoch began", (t) => {
  const device = new Starts();
  const first = device.start(null);
  device.add(first, 2);
  first.time.learn(at(T0));
  device.add(first, 1);
  device.blocks.bytes[OPENING_BYTES + 20]! ^= 1;
  const last = device.start(T0 + HOUR);
  device.add(last, 1);
  t.is(device.lost(last), 0);
  t.true(device.delivered.get(1)! >= T0 - 1000);
});
