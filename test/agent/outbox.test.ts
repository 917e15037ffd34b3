import test from "ava";
import fc from "fast-check";
import type { TelemetryOptions } from "../../src/agent/telemetry-options.js";
import { FakeFlash } from "../fakes/flash.js";
import { rig, textOf, waitingNumbers } from "./outbox-rig.js";
import { upTo } from "./telemetry-rig.js";

const flash = (sectors = 4, sectorSize = 512) => new FakeFlash(sectors * sectorSize, sectorSize);
/** The same flash after a restart. */
const again = (blocks: FakeFlash) => new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);
const text = (value: string) => new TextEncoder().encode(value);

interface Real {
  rig: ReturnType<typeof rig>;
  blocks: FakeFlash;
  readonly options: TelemetryOptions;
}

// The reference: a list, and how many went in front of it.
interface Model {
  waiting: number[];
  next: number;
  full: number;
}

class Look implements fc.Command<Model, Real> {
  readonly most: number;
  constructor(most: number) {
    this.most = most;
  }
  check = () => true;
  run(model: Model, { rig: { outbox } }: Real): void {
    compare(model, outbox, this.most);
  }
  toString = () => `look at ${this.most}`;
}

class Append implements fc.Command<Model, Real> {
  readonly count: number;
  constructor(count: number) {
    this.count = count;
  }
  check = () => true;
  run(model: Model, { rig: { outbox } }: Real): void {
    for (let i = 0; i < this.count; i++) {
      outbox.append(textOf(model.next), undefined);
      model.waiting.push(model.next++);
      account(model, outbox);
    }
    count(model, outbox);
  }
  toString = () => `append ${this.count}`;
}

class Confirm implements fc.Command<Model, Real> {
  readonly count: number;
  constructor(count: number) {
    this.count = count;
  }
  check = () => true;
  run(model: Model, { rig: { outbox } }: Real): void {
    outbox.confirm(outbox.first + Math.min(this.count, outbox.waiting));
    model.waiting.splice(0, this.count);
    count(model, outbox);
  }
  toString = () => `confirm ${this.count}`;
}

class Sync implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, { rig: { outbox } }: Real): void {
    outbox.sync();
    account(model, outbox);
    count(model, outbox);
  }
  toString = () => "sync";
}

class Restart implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    if (real.blocks.size === 0) return;
    real.rig.outbox.sync();
    account(model, real.rig.outbox);
    real.blocks = again(real.blocks);
    real.rig = rig(real.blocks, real.options);
    count(model, real.rig.outbox);
  }
  toString = () => "restart";
}

/** What the outbox says it dropped is what is missing in front. */
function account(model: Model, outbox: ReturnType<typeof rig>["outbox"]): void {
  const lost = outbox.dropped.full - model.full;
  model.full += lost;
  model.waiting.splice(0, lost);
}

function count(model: Model, outbox: ReturnType<typeof rig>["outbox"]): void {
  const { waiting } = outbox;
  if (waiting !== model.waiting.length) throw new Error(`${waiting} wait, should be ${model.waiting.length}`);
}

function compare(model: Model, outbox: ReturnType<typeof rig>["outbox"], most: number): void {
  const found = waitingNumbers(outbox, most).join();
  const due = model.waiting.slice(0, most).join();
  if (found !== due) throw new Error(`waiting ${found}, should be ${due}`);
}

for (const [name, sectors, durable] of [
  ["in memory", 0, true],
  ["on 2 sectors", 2, true],
  ["on 5 sectors", 5, true],
  ["on 5 sectors, not at once", 5, false],
] as const) {
  test(`the outbox ${name} does what a list does`, (t) => {
    const commands = [
      fc.nat(14).map((count) => new Append(count)),
      fc.nat(14).map((count) => new Confirm(count)),
      fc.nat(20).map((most) => new Look(most)),
      fc.constant(new Sync()),
      fc.constant(new Restart()),
    ];
    fc.assert(
      fc.property(fc.commands(commands, { maxCommands: 60, size: "max" }), (run) => {
        const blocks = flash(sectors);
        const options = { bufferBytes: 1024, durable };
        const start = () => ({
          model: { waiting: [], next: 0, full: 0 },
          real: { blocks, options, rig: rig(blocks, options) },
        });
        fc.modelRun(start, run);
      }),
      { numRuns: 300 },
    );
    t.pass();
  });
}

test("the oldest sectors go when the blocks are full, and exactly their points are counted", (t) => {
  const blocks = flash(160, 4096);
  const { outbox } = rig(blocks);
  const point = text('{"temperature":21.5}');
  const each = 15 + point.length;
  const perSector = Math.floor((4096 - 56) / each);
  const count = 86_400;
  for (let i = 0; i < count; i++) outbox.append(point, undefined);
  const filled = Math.floor((count - 1) / perSector);
  const kept = count - (filled - 158) * perSector;
  // The mark that says so takes room in the newest sector, never more than one point's in each.
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

test("with drop newest the new point is refused, counted, and what waits stays", (t) => {
  const { outbox } = rig(flash(3), { drop: "newest" });
  const accepted = upTo(200).filter((n) => outbox.append(textOf(n), undefined));
  t.deepEqual(accepted, upTo(accepted.length));
  t.is(outbox.dropped.full, 200 - accepted.length);
  t.deepEqual(waitingNumbers(outbox), accepted);
  while (outbox.waiting > 0) outbox.confirm(outbox.first + 1);
  t.true(outbox.append(textOf(1), undefined));
});

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

test("with durable false points are on flash after 4 KiB", (t) => {
  const blocks = flash(8, 4096);
  const { outbox } = rig(blocks, { durable: false });
  for (let n = 0; n < 200; n++) outbox.append(textOf(n), undefined);
  const found = waitingNumbers(rig(again(blocks)).outbox);
  t.deepEqual(found, upTo(found.length));
  t.true(found.length > 100);
});

test("what was delivered within the second is never written to flash", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  for (let n = 0; n < 10; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + 10);
  await host.clock.advance(5000);
  t.is(blocks.changes, 0);
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
  test(`when a ${call} fails it is told once, and the agent goes on in memory`, (t) => {
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
  const blocks = flash(6);
  const { outbox } = rig(blocks);
  const lost: number[] = [];
  for (let n = 0; n < 40; n++) outbox.append(textOf(n), undefined);
  outbox.watch((points) => lost.push(points));
  // The first record of the second sector.
  blocks.bytes[512 + 80]! ^= 1;
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

test("blocks written by another format are kept, told and not used", (t) => {
  const blocks = flash(4);
  rig(blocks).outbox.append(textOf(0), undefined);
  blocks.bytes[4] = 2;
  blocks.bytes[5] = 0xfd;
  const before = blocks.bytes.slice();
  const copy = again(blocks);
  const { outbox, host } = rig(copy);
  t.true(outbox.append(textOf(1), undefined));
  t.deepEqual(waitingNumbers(outbox), [1]);
  t.deepEqual(copy.bytes, before);
  t.true(host.lines.some((line) => line.includes("another version")));
});

test("whatever the blocks held before they were the outbox's, it starts empty and works", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 2048, maxLength: 2048 }), (bytes) => {
      const blocks = new FakeFlash(2048, 512, bytes);
      const { outbox } = rig(blocks);
      for (let n = 0; n < 5; n++) outbox.append(textOf(n), undefined);
      t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), upTo(5));
    }),
    { numRuns: 50 },
  );
});

test("blocks full of something else are told, as points may have been in them; blank ones are not", (t) => {
  const strange = rig(new FakeFlash(2048, 512, new Uint8Array(2048).fill(0x5a)));
  t.true(
    strange.host.lines.some((line) => line.includes("it begins empty")),
    strange.host.lines.join(),
  );
  t.deepEqual(rig(flash(4)).host.lines, []);
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
