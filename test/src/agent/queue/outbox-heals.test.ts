// Blocks that fail for a while: the queue goes on in memory, and comes back to them.
import test from "ava";
import { FakeFlash } from "../../../fakes/flash.js";
import { randomBytes } from "../../../fakes/host.js";
import { upTo } from "../telemetry/rig.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

const flash = (sectors = 8) => new FakeFlash(sectors * 512, 512);
const again = (blocks: FakeFlash) => rig(new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes.slice()));
const MINUTE = 60_000;

function record({ outbox }: ReturnType<typeof rig>, from: number, to: number): void {
  for (let n = from; n < to; n++) outbox.append(textOf(n), undefined);
}

for (const call of ["write", "erase"] as const) {
  test(`brings all points to the next sector at once after a ${call} that failed, in order`, (t) => {
    const blocks = flash();
    const device = rig(blocks);
    record(device, 0, 10);
    let left = 1;
    blocks.fails = (what) => what === call && left-- > 0;
    record(device, 10, 30);
    t.deepEqual(waitingNumbers(device.outbox), upTo(30));
    t.deepEqual(waitingNumbers(again(blocks).outbox), upTo(30));
    t.deepEqual(device.host.lines, []);
    t.deepEqual(blocks.violations, []);
  });
}

test("tries flash that goes on failing ever more rarely, and logs it once", async (t) => {
  const blocks = flash(16);
  const device = rig(blocks, { bufferBytes: 4096 });
  record(device, 0, 5);
  const erases: number[] = [];
  blocks.fails = (what) => {
    if (what === "erase") erases.push(device.host.clock.now());
    return what !== "read";
  };
  for (let n = 5; n < 65; n++) {
    record(device, n, n + 1);
    await device.host.clock.advance(MINUTE / 10);
  }
  t.true(erases.length >= 10 && erases.length <= 26, `${erases.length}`);
  t.is(device.host.lines.filter((line) => line.startsWith("error")).length, 1);
  blocks.fails = undefined;
  await device.host.clock.advance(MINUTE);
  record(device, 65, 66);
  t.deepEqual(waitingNumbers(again(blocks).outbox), upTo(66));
});

test("what is confirmed while nothing can be written stays confirmed once it can", async (t) => {
  const blocks = flash();
  const device = rig(blocks);
  record(device, 0, 5);
  blocks.fails = (what) => what !== "read";
  record(device, 5, 10);
  device.outbox.confirm(device.outbox.first + 7);
  blocks.fails = undefined;
  await device.host.clock.advance(2 * MINUTE);
  record(device, 10, 11);
  t.deepEqual(waitingNumbers(device.outbox), upTo(11, 7));
  t.deepEqual(waitingNumbers(again(blocks).outbox), upTo(11, 7));
});

test("whatever write or erase fails, points that wait are there in order, once or again", async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = randomBytes(seed);
    const blocks = flash(24);
    const device = rig(blocks, { bufferBytes: 4096 });
    blocks.fails = (what) => what !== "read" && next() < 40;
    let [recorded, confirmed] = [0, 0];
    for (let step = 0; step < 40; step++) {
      record(device, recorded, recorded + (next() % 4));
      recorded = device.outbox.next;
      const found = waitingNumbers(device.outbox, next() % 8);
      if (found.length > 0) {
        t.true(found[0]! <= confirmed, `seed ${seed}: ${confirmed} were confirmed, ${found[0]} is first`);
        confirmed = found.at(-1)! + 1;
        device.outbox.confirm(device.outbox.first + found.length);
      }
      if (next() % 4 === 0) await device.host.clock.advance(MINUTE);
    }
    const found = waitingNumbers(device.outbox);
    t.deepEqual(found, upTo(recorded, found[0] ?? recorded), `seed ${seed}`);
    t.deepEqual(blocks.violations, [], `seed ${seed}`);
  }
});
