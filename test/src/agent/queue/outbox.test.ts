import test from "ava";
import fc from "fast-check";
import { Outbox } from "../../../../src/agent/queue/outbox.js";
import {
  MAX_RECORD,
  OPENING_BYTES,
  POINT_HEAD,
  STATUS_BYTES,
  seal,
  soundLength,
  whole,
} from "../../../../src/agent/queue/record.js";
import { Time } from "../../../../src/agent/time/time.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { randomBytes } from "../../../fakes/host.js";
import { Body } from "../../../power-loss/device.js";
import { KINDS, Power, type PowerLoss, PowerLossError } from "../../../power-loss/power.js";
import { upTo } from "../telemetry/rig.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

const flash = (sectors = 4, sectorSize = 512) => new FakeFlash(sectors * sectorSize, sectorSize);
/** The same flash after a restart. */
const again = (blocks: FakeFlash) => new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);
const text = (value: string) => new TextEncoder().encode(value);

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

// What a start finds in the blocks: the queue, one of another format, something else, or nothing that can be read.

test("blocks too small for a durable queue are logged, and points wait in memory", (t) => {
  for (const [sectors, sectorSize] of [
    [1, 4096],
    [8, 256],
  ] as const) {
    const { outbox, host } = rig(flash(sectors, sectorSize));
    t.true(outbox.append(textOf(7), undefined));
    t.deepEqual(waitingNumbers(outbox), [7]);
    t.deepEqual(host.lines, [
      "error: the storage is too small for a durable queue: points are kept in memory only",
    ]);
  }
});

test("blocks full of something else are logged, as points may have been in them; blank ones are not", (t) => {
  const strange = rig(new FakeFlash(2048, 512, new Uint8Array(2048).fill(0x5a)));
  t.true(
    strange.host.lines.some((line) => line.includes("starting empty")),
    strange.host.lines.join(),
  );
  t.deepEqual(rig(flash(4)).host.lines, []);
});

// Blocks that fail for a while: the queue goes on in memory, and comes back to them.

const flashOf = (sectors = 8) => new FakeFlash(sectors * 512, 512);
const _reopen = (blocks: FakeFlash) =>
  rig(new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes.slice()));
const MINUTE = 60_000;

function record({ outbox }: ReturnType<typeof rig>, from: number, to: number): void {
  for (let n = from; n < to; n++) outbox.append(textOf(n), undefined);
}

test("whatever write or erase fails, points that wait are there in order, once or again", async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = randomBytes(seed);
    const blocks = flashOf(24);
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

// The checksum of a record in the durable queue.

const SEQUENCE = 7;

/** A sealed record of `length` bytes that are random, its last word filled. */
function recordOf(length: number, seed: number): { bytes: Uint8Array; words: Int32Array } {
  const bytes = new Uint8Array(whole(length));
  const words = new Int32Array(bytes.buffer);
  const next = randomBytes(seed);
  for (let i = 6; i < length; i++) bytes[i] = next();
  bytes[4] = length;
  bytes[5] = length >> 8;
  seal(words, 0, length, SEQUENCE, 0);
  return { bytes, words };
}

const sound = (words: Int32Array, sequence = SEQUENCE) => soundLength(words, 0, words.length * 4, sequence);

test("a record is sound as it was sealed, in its own sector only", (t) => {
  for (let length = STATUS_BYTES; length < 100; length++) {
    const { words } = recordOf(length, length);
    t.is(sound(words), whole(length));
    t.is(sound(words, SEQUENCE + 1), 0);
    t.is(soundLength(words, 0, length - 1, SEQUENCE), 0);
  }
});

test("any one or two bits that changed are found, and a word that is any other", (t) => {
  const { words, bytes } = recordOf(68, 1);
  const flip = (bit: number) => {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  };
  let missed = 0;
  for (let one = 0; one < bytes.length * 8; one++) {
    flip(one);
    if (sound(words) !== 0) missed++;
    for (let two = 0; two < one; two++) {
      flip(two);
      if (sound(words) !== 0) missed++;
      flip(two);
    }
    flip(one);
  }
  const next = randomBytes(2);
  for (let i = 0; i < 20_000; i++) {
    const word = i % words.length;
    const was = words[word]!;
    words[word] = was ^ ((next() << 24) | (next() << 16) | (next() << 8) | next() | 1);
    if (sound(words) !== 0) missed++;
    words[word] = was;
  }
  t.is(missed, 0);
  t.is(sound(words), 68);
});

/** A step of the register: what a bit of the last word but one does to the sum. */
function move(state: number): number {
  const to = state ^ (state << 7);
  return to ^ (to >> 19) ^ (to >> 3);
}

test("no two bits cancel each other in the longest record", (t) => {
  // The sum is linear: two bits do so if the register, moved on from one of them alone, comes to another alone.
  const words = new Int32Array([0, STATUS_BYTES, 0, 1]);
  seal(words, 0, STATUS_BYTES, 0, 0);
  t.is(words[0], move(move(move(STATUS_BYTES | (1 << 24))) ^ 1));
  for (let bit = 0; bit < 32; bit++) {
    let state = 1 << bit;
    for (let i = 0; i < MAX_RECORD / 4; i++) {
      state = move(state);
      if ((state & (state - 1)) === 0) t.fail(`bit ${bit} after ${i + 1} words`);
    }
  }
});

test("a record whose writing was cut is not sound, whatever is behind the cut", (t) => {
  const next = randomBytes(3);
  let missed = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const { bytes, words } = recordOf(STATUS_BYTES + (next() % 90), seed);
    const whole = bytes.slice();
    for (let cut = 0; cut < bytes.length; cut++) {
      for (const fill of [() => 0xff, () => 0, next]) {
        for (let at = cut; at < bytes.length; at++) bytes[at] = fill();
        if (sound(words) !== 0 && bytes.some((byte, at) => byte !== whole[at])) missed++;
        bytes.set(whole);
      }
    }
  }
  t.is(missed, 0);
});

// The outbox against a reference: points are numbers in a row, and two of them say which wait, whatever happens to the power.

const RUNS = 100;
const SECTOR = 1024;
const RING = 1024;
const sizeOf = (n: number): number => whole(POINT_HEAD + textOf(n).length);
/** Longest record, and most of them in the ring. */
const LONGEST = 75;
const MOST_IN_RING = Math.floor(RING / sizeOf(0));

interface Shape {
  readonly sectors: number;
  readonly drop: "oldest" | "newest";
  readonly durable: boolean;
}

// The reference: the points from `first` to below `next` wait, and so many were dropped.
class Model {
  first = 0;
  next = 0;
  full = 0;
  refused = 0;
  unreadable = 0;
  // What a power loss may leave: the first that waits is `kept` to `upTo`, those below `safe` are there, none from `most` on is.
  kept = 0;
  upTo = 0;
  safe = 0;
  most = 0;
  keptRefused = 0;
  mostRefused = 0;
  // Bytes that went into the outbox so far, and before each point. A sector that was torn is as good as full.
  spent = 0;
  torn = 0;
  // Where the sectors that were torn last lie: before point `at`, which came after them.
  lastTorn = { at: -1, bytes: 0 };
  readonly spentAt: number[] = [];

  get waiting(): number[] {
    return upTo(this.next, this.first);
  }
}

class Real {
  readonly shape: Shape;
  readonly body: Body;
  power = new Power();
  outbox: Outbox;

  constructor(shape: Shape) {
    this.shape = shape;
    this.body = new Body(shape.sectors, SECTOR);
    this.outbox = this.#start();
  }

  /** The next start, whose power goes at `loss`. */
  restart(loss?: PowerLoss): void {
    this.power = new Power(loss);
    this.outbox = this.#start();
  }

  #start(): Outbox {
    const host = this.body.start(this.power);
    const { drop, durable } = this.shape;
    return new Outbox(host, new Time(host), { drop, durable, bufferBytes: RING });
  }
}

const due = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

/** Those that went for want of room are the oldest, and there was none. */
function account(model: Model, { outbox, shape }: Real): number {
  const lost = outbox.dropped.full - model.full;
  if (lost === 0) return 0;
  model.full += lost;
  if (shape.drop === "oldest") model.first += lost;
  const used = model.spent - (model.spentAt[model.first] ?? model.spent);
  const sectors = (shape.sectors - 2) * (SECTOR - OPENING_BYTES - LONGEST);
  // Without the last that went, or with the one that did not come, there was no room.
  const ring = RING - LONGEST - sizeOf(shape.drop === "oldest" ? model.first - 1 : model.next);
  const least = shape.sectors > 0 ? sectors : ring;
  if (shape.sectors > 0) model.spent += STATUS_BYTES;
  due(used >= least, `${lost} dropped, though only ${used} bytes were taken`);
  return lost;
}

function recordBoth(model: Model, real: Real): boolean {
  const { outbox, shape } = real;
  model.spentAt[model.next] = model.spent;
  model.most = model.next + 1;
  const accepted = outbox.append(textOf(model.next), undefined);
  // Only now: where a record is torn once more, all that was torn lies before the point that comes at last.
  if (model.torn > 0) model.lastTorn = { at: model.next, bytes: model.torn };
  model.spent += model.torn;
  model.torn = 0;
  if (accepted) model.spent += sizeOf(model.next++);
  const lost = account(model, real);
  if (shape.drop === "newest") due(lost === (accepted ? 0 : 1), `accepted: ${accepted}, ${lost} dropped`);
  else due(accepted, "turned away");
  Object.assign(model, { most: model.next, upTo: model.first });
  if (shape.sectors > 0) model.safe = Math.max(model.safe, model.next - (shape.durable ? 0 : MOST_IN_RING));
  return lost === 0;
}

/** The platform takes or refuses the first points. */
function finish(model: Model, { outbox, power, shape }: Real, most: number, refused: boolean): void {
  const points = Math.min(most, model.next - model.first);
  const changes = power.changes.length;
  model.upTo += points;
  if (refused) model.mostRefused += points;
  if (refused) outbox.dropRefused(outbox.first + points);
  else outbox.confirm(outbox.first + points);
  model.first = model.upTo;
  model.refused = model.mostRefused;
  if (shape.sectors > 0) model.spent += STATUS_BYTES;
  // There may be no room to say so on flash: while the newest go, or after a power loss closed the sector that was free.
  if (power.changes.length > changes) Object.assign(model, { kept: model.first, keptRefused: model.refused });
}

function look(model: Model, { outbox }: Real, most = Number.POSITIVE_INFINITY): void {
  due(outbox.waiting === model.next - model.first, `${outbox.waiting} wait`);
  due(outbox.dropped.refused === model.refused, `${outbox.dropped.refused} refused`);
  const found = waitingNumbers(outbox, most).join();
  due(found === model.waiting.slice(0, most).join(), `${found} wait, not ${model.waiting.join()}`);
}

/** What the next start finds is what may be left, and from then on what is. */
function survive(model: Model, real: Real, loss?: PowerLoss): void {
  const { drop } = real.shape;
  try {
    real.restart(loss);
  } catch (error) {
    if (!(error instanceof PowerLossError)) throw error;
    // The start that the power loss ended may have torn a sector of its own.
    model.torn += SECTOR;
    real.restart();
  }
  const { full, refused, unreadable } = real.outbox.dropped;
  const found = waitingNumbers(real.outbox);
  const gone = drop === "oldest" ? full - model.full : 0;
  const first = found[0] ?? model.most;
  const next = first + found.length;
  due(found.join() === upTo(next, first).join(), `out of order: ${found.join()}`);
  due(gone >= 0, `${full} dropped, before ${model.full}`);
  if (found.length === 0) due(model.upTo + gone >= model.safe, `nothing waits, ${model.safe} are safe`);
  else {
    due(
      first >= model.kept && first <= model.upTo + gone,
      `begins at ${first}, not ${model.kept} to ${model.upTo}`,
    );
    due(next >= model.safe && next <= model.most, `ends at ${next}, not ${model.safe} to ${model.most}`);
  }
  // What is finished may be erased before a header says that it is. A write that each power loss cut counts as a point.
  due(unreadable - model.unreadable <= model.upTo - model.kept + 2, `${unreadable} can't be read`);
  due(refused >= model.keptRefused && refused <= model.mostRefused, `${refused} refused`);
  Object.assign(model, { first, kept: first, upTo: first, next, safe: next, full, unreadable });
  if (found.length === real.outbox.waiting) model.most = next;
  Object.assign(model, { refused, keptRefused: refused, mostRefused: refused });
  model.torn += SECTOR;
  // No point that came after them is left, so the next one comes after them again.
  const { at, bytes } = model.lastTorn;
  if (next <= at) {
    model.torn += bytes;
    model.spent -= bytes;
    model.lastTorn = { at: -1, bytes: 0 };
  }
  if (found.length < real.outbox.waiting) drain(model, real);
}

/** A write of several points was torn in its middle: those behind the gap wait as well. All go out. */
function drain(model: Model, { outbox }: Real): void {
  Object.assign(model, { upTo: model.most });
  let last = -1;
  while (outbox.waiting > 0) {
    const found = waitingNumbers(outbox);
    due(
      found.every((n, i) => n > (found[i - 1] ?? last) && n < model.most),
      `out of order: ${found}`,
    );
    last = found.at(-1) ?? last;
    outbox.confirm(outbox.first + found.length);
  }
  const { full, unreadable } = outbox.dropped;
  const { most } = model;
  Object.assign(model, { first: most, kept: most, next: most, safe: most, full, unreadable });
}

type Command = fc.Command<Model, Real>;

function command(name: string, run: (model: Model, real: Real) => void): Command {
  return {
    check: () => true,
    run: (model, real) => {
      try {
        run(model, real);
      } catch (error) {
        if (!(error instanceof PowerLossError)) throw error;
        survive(model, real);
      }
      look(model, real, 3);
      due(real.body.flash.violations.length === 0, real.body.flash.violations.join());
    },
    toString: () => name,
  };
}

const COMMANDS: fc.Arbitrary<Command>[] = [
  fc.nat(14).map((count) =>
    command(`record ${count}`, (model, real) => {
      for (let i = 0; i < count; i++) recordBoth(model, real);
    }),
  ),
  fc.constant(
    command("record until it is full", (model, real) => {
      while (recordBoth(model, real));
    }),
  ),
  fc.nat(14).map((count) => command(`confirm ${count}`, (model, real) => finish(model, real, count, false))),
  fc.nat(2).map((count) => command(`refuse ${count}`, (model, real) => finish(model, real, count, true))),
  fc.constant(command("look", (model, real) => look(model, real))),
];

const restart = (loss: PowerLoss | undefined): Command =>
  command(
    `the power goes${loss ? `, and again at change ${loss.at}, what it does left as ${loss.kind}` : ""}`,
    (model, real) => survive(model, real, loss),
  );
const sync = command("bring all to flash", (model, real) => {
  real.outbox.sync();
  account(model, real);
  model.upTo = model.first;
  if (real.shape.drop === "oldest") model.safe = model.next;
});
const ON_FLASH: fc.Arbitrary<Command>[] = [
  fc.option(fc.record({ at: fc.nat(60), kind: fc.constantFrom(...KINDS) }), { nil: undefined }).map(restart),
  fc.constant(sync),
];

for (const drop of ["oldest", "newest"] as const) {
  for (const [called, sectors, durable] of [
    ["in memory", 0, true],
    ["on 2 sectors", 2, true],
    ["on 6 sectors", 6, true],
    ["on 2 sectors, not at once", 2, false],
    ["on 6 sectors, not at once", 6, false],
  ] as const) {
    test(`the outbox ${called} does what its reference does, with drop ${drop}`, (t) => {
      const commands = sectors > 0 ? [...COMMANDS, ...ON_FLASH] : COMMANDS;
      fc.assert(
        fc.property(fc.commands(commands, { maxCommands: 60, size: "max" }), (run) => {
          fc.modelRun(() => ({ model: new Model(), real: new Real({ sectors, drop, durable }) }), run);
        }),
        { numRuns: RUNS, includeErrorInReport: true },
      );
      t.pass();
    });
  }
}
