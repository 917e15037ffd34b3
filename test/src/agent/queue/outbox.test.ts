import test from "ava";
import { OPENING_BYTES, POINT_HEAD, whole } from "../../../../src/agent/queue/record.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { upTo } from "../telemetry/rig.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

const flash = (sectors = 4, sectorSize = 512) => new FakeFlash(sectors * sectorSize, sectorSize);
/** The same flash after a restart. */
const again = (blocks: FakeFlash) => new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);
const text = (value: string) => new TextEncoder().encode(value);

test("the oldest sectors go when the blocks are full, and exactly their points are counted", (t) => {
  const blocks = flash(160, 4096);
  const { outbox } = rig(blocks);
  const point = text('{"temperature":21.5}');
  const each = 15 + point.length;
  const perSector = Math.floor((4096 - OPENING_BYTES) / each);
  const count = 86_400;
  for (let i = 0; i < count; i++) outbox.append(point, undefined);
  const filled = Math.floor((count - 1) / perSector);
  const kept = count - (filled - 158) * perSector;
  // The status entry that says so takes room in the newest sector, never more than one point's in each.
  t.true(Math.abs(outbox.waiting - kept) <= filled, `${outbox.waiting} of ${kept}`);
  t.is(outbox.waiting + outbox.dropped.full, count);
  t.is(rig(again(blocks)).outbox.waiting, outbox.waiting);
  t.is(rig(again(blocks)).outbox.dropped.full, outbox.dropped.full);
});

test("a day of points at one a second fits into 16 MiB, and a start reads little of it", (t) => {
  const blocks = flash(4096, 4096);
  const { outbox } = rig(blocks);
  const point = text('{"temperature":21.5,"humidity":40,"pressure":1013.25}');
  for (let i = 0; i < 86_400; i++) outbox.append(point, undefined);
  t.is(outbox.waiting, 86_400);
  t.is(outbox.dropped.full, 0);
  const copy = again(blocks);
  let bytes = 0;
  const read = copy.read.bind(copy);
  copy.read = (at, into) => {
    bytes += into.length;
    return read(at, into);
  };
  t.is(rig(copy).outbox.waiting, 86_400);
  t.true(bytes < 400_000, `${bytes} bytes read`);
});

// Of 5 sectors one is free, and one may have been opened just now; each holds 384 bytes of points but for a last one that did not fit.
for (const [place, sectors, durable, least, most] of [
  ["in memory", 0, true, 800, 1024],
  ["on flash at once", 5, true, 3 * 313, 4 * 384],
  ["on flash later", 5, false, 3 * 313, 4 * 384 + 1024],
] as const) {
  const bufferBytes = 1024;
  const bytesOf = (points: number[]) =>
    points.reduce((sum, n) => sum + whole(POINT_HEAD + textOf(n).length), 0);

  test(`with drop oldest, points ${place}, the oldest go for the new ones and are counted`, (t) => {
    const { outbox } = rig(flash(sectors), { drop: "oldest", bufferBytes, durable });
    for (let n = 0; n < 200; n++) t.true(outbox.append(textOf(n), undefined));
    const lost = outbox.dropped.full;
    t.deepEqual(waitingNumbers(outbox), upTo(200, lost));
    const bytes = bytesOf(upTo(200, lost));
    t.true(bytes >= least && bytes <= most, `${bytes}`);
  });

  test(`with drop newest, points ${place}, the new point is turned away and counted, and what waits stays`, (t) => {
    const { outbox } = rig(flash(sectors), { drop: "newest", bufferBytes, durable });
    const accepted = upTo(200).filter((n) => outbox.append(textOf(n), undefined));
    t.is(outbox.dropped.full, 200 - accepted.length);
    t.deepEqual(waitingNumbers(outbox), accepted);
    // A shorter point may find the room that a longer one did not.
    t.deepEqual(accepted.slice(0, -3), upTo(accepted.length - 3));
    const bytes = bytesOf(accepted);
    t.true(bytes >= least && bytes <= most, `${bytes}`);
    while (outbox.waiting > 0) outbox.confirm(outbox.first + 1);
    t.true(outbox.append(textOf(1), undefined));
  });
}

test("with durable false points are on flash after 1 s", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  for (let n = 0; n < 10; n++) outbox.append(textOf(n), undefined);
  t.is(blocks.changes, 0);
  await host.clock.advance(1000);
  // One erase, one header, and one write for all of them.
  t.is(blocks.changes, 3);
  t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), upTo(10));
});

test("with durable false never more than 4 KiB of points are in memory only", (t) => {
  const blocks = flash(8, 4096);
  const { outbox } = rig(blocks, { durable: false });
  let [most, inMemory] = [0, 0];
  for (let n = 0, changes = 0; n < 300; n++) {
    outbox.append(textOf(n), undefined);
    inMemory += whole(POINT_HEAD + textOf(n).length);
    most = Math.max(most, inMemory);
    if (blocks.changes === changes) continue;
    changes = blocks.changes;
    inMemory = 0;
    t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), upTo(n + 1));
  }
  // The point that reaches the limit goes to flash with the others.
  t.true(most >= 4096 && most < 4096 + POINT_HEAD + 60, `${most}`);
});

test("what was delivered within the second is never written to flash", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  for (let n = 0; n < 10; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + 10);
  await host.clock.advance(5000);
  t.is(blocks.changes, 0);
});

test("a point that was refused before it was on flash is counted over a power loss", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  // The sector has its header already: no other follows soon.
  outbox.append(textOf(0), undefined);
  await host.clock.advance(5000);
  outbox.confirm(outbox.first + 1);
  for (let n = 0; n < 3; n++) outbox.append(textOf(n), undefined);
  outbox.refuse(outbox.first + 1);
  await host.clock.advance(5000);
  const { outbox: after } = rig(again(blocks));
  t.is(after.dropped.refused, 1);
  t.deepEqual(waitingNumbers(after), [1, 2]);
});

test("a batch that is on its way while its points go to flash is forgotten all the same", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  for (let n = 0; n < 10; n++) outbox.append(textOf(n), undefined);
  const sent = outbox.first + 6;
  await host.clock.advance(1000);
  outbox.append(textOf(10), undefined);
  outbox.confirm(sent);
  t.deepEqual(waitingNumbers(outbox), upTo(11, 6));
});

test("a batch of points partly on flash and partly in memory is forgotten as a whole", (t) => {
  const { outbox } = rig(flash(), { durable: false });
  for (let n = 0; n < 5; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + 5);
  for (let n = 5; n < 8; n++) outbox.append(textOf(n), undefined);
  outbox.sync();
  for (let n = 8; n < 11; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + 5);
  t.deepEqual(waitingNumbers(outbox), [10]);
});

test("a batch whose points were dropped meanwhile takes no others with it", (t) => {
  const { outbox } = rig(flash(3));
  for (let n = 0; n < 10; n++) outbox.append(textOf(n), undefined);
  const sent = outbox.first + 5;
  for (let n = 10; n < 100; n++) outbox.append(textOf(n), undefined);
  const before = waitingNumbers(outbox);
  t.true(before[0]! > 5);
  outbox.confirm(sent);
  t.deepEqual(waitingNumbers(outbox), before);
});

for (const call of ["write", "erase"] as const) {
  test(`when a ${call} fails it is logged once, and the agent goes on in memory`, (t) => {
    const blocks = flash(4);
    const { outbox, host } = rig(blocks);
    for (let n = 0; n < 5; n++) outbox.append(textOf(n), undefined);
    blocks.fails = (what) => what === call;
    for (let n = 5; n < 40; n++) t.true(outbox.append(textOf(n), undefined));
    t.deepEqual(waitingNumbers(outbox), upTo(40));
    t.is(host.lines.filter((line) => line.startsWith("error")).length, 1);
    outbox.confirm(outbox.first + 10);
    t.deepEqual(waitingNumbers(outbox), upTo(40, 10));
  });
}

test("points that can't be read back are counted, and those behind them are delivered", (t) => {
  const blocks = flash(8);
  const { outbox } = rig(blocks, { bufferBytes: 1024 });
  const lost: number[] = [];
  for (let n = 0; n < 40; n++) outbox.append(textOf(n), undefined);
  outbox.watch((points) => lost.push(points));
  // The first record of the second sector.
  blocks.bytes[512 + OPENING_BYTES + 24]! ^= 1;
  const found: number[] = [];
  while (outbox.waiting > 0) {
    const part = waitingNumbers(outbox);
    found.push(...part);
    outbox.confirm(outbox.first + part.length);
  }
  t.is(found.length + outbox.dropped.unreadable, 40);
  t.deepEqual(lost, [outbox.dropped.unreadable]);
  t.is(found.at(-1), 39);
});

test("what is still in memory is not read from flash: neither a read nor a record that is spoilt there takes it", (t) => {
  const blocks = flash(8);
  const { outbox } = rig(blocks, { bufferBytes: 1024 });
  for (let n = 0; n < 40; n++) outbox.append(textOf(n), undefined);
  let reads = 0;
  blocks.fails = (what) => what === "read" && ++reads > 0;
  for (let n = 40; n < 50; n++) {
    outbox.confirm(outbox.next);
    outbox.append(textOf(n), undefined);
    t.deepEqual(waitingNumbers(outbox), [n]);
  }
  t.is(reads, 0);
  blocks.fails = undefined;
  for (let n = 50; n < 90; n++) outbox.append(textOf(n), undefined);
  // All of the sectors but their headers: only what is in memory alone can be delivered.
  for (let at = 0; at < blocks.size; at++) if (at % 512 >= OPENING_BYTES) blocks.bytes[at] = 0;
  const found = waitingNumbers(outbox);
  t.true(found.length >= 10, `${found.length}`);
  t.deepEqual(found, upTo(90, 90 - found.length));
  t.is(outbox.dropped.unreadable + found.length, 41);
  outbox.confirm(outbox.next);
  t.is(outbox.waiting, 0);
});

test("forget leaves no point behind, on flash neither", (t) => {
  const blocks = flash(4);
  const { outbox } = rig(blocks);
  for (let n = 0; n < 30; n++) outbox.append(textOf(n), undefined);
  outbox.forget();
  t.is(outbox.waiting, 0);
  t.true(blocks.bytes.every((byte) => byte === 0xff));
  outbox.append(textOf(7), undefined);
  t.deepEqual(waitingNumbers(outbox), [7]);
  t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), [7]);
});

test("sectors wear evenly, and one erase serves a sector of points", (t) => {
  const blocks = flash(8, 4096);
  const { outbox } = rig(blocks);
  for (let n = 0; n < 20_000; n++) {
    outbox.append(textOf(n), undefined);
    if (n % 50 === 0) outbox.confirm(outbox.next);
  }
  t.true(Math.max(...blocks.erases) - Math.min(...blocks.erases) <= 1);
  const erases = blocks.erases.reduce((sum, count) => sum + count, 0);
  t.true(20_000 / erases > 60, `${erases} erases`);
});
