import test from "ava";
import {
  emptyState,
  intactLength,
  OPENING_BYTES,
  padded,
  type Records,
  recordsIn,
  seal,
} from "../../../../src/agent/queue/record.js";
import { BatchBuilder } from "../../../../src/agent/telemetry/batch.js";
import { crc32 } from "../../../../src/wire/crypto/crc32.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore, randomBytes } from "../../../fakes/host.js";
import { storedBytes } from "../../../fakes/stored.js";
import { upTo } from "../telemetry/rig.js";
import { type Rig, rig, textOf, waitingNumbers } from "./rig.js";

const flash = (sectors = 4, sectorSize = 512) => new FakeFlash(sectors * sectorSize, sectorSize);
/** The same flash after a restart. */
const restarted = (blocks: FakeFlash) => new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);

test("a day of points at one a second fits into 16 MiB, and a start reads little of it", (t) => {
  const blocks = flash(4096, 4096);
  const { outbox } = rig(blocks);
  const point = new TextEncoder().encode('{"temperature":21.5,"humidity":40,"pressure":1013.25}');
  for (let i = 0; i < 86_400; i++) outbox.append(point, undefined);
  t.is(outbox.waiting, 86_400);
  t.is(outbox.dropped.full, 0);
  const copy = restarted(blocks);
  let bytes = 0;
  const read = copy.read.bind(copy);
  copy.read = (at, into) => {
    bytes += into.length;
    return read(at, into);
  };
  t.is(rig(copy).outbox.waiting, 86_400);
  t.true(bytes < 400_000, `${bytes} bytes read`);
});

test("with durable false points are on flash after 1 s", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  outbox.append(textOf(0), undefined);
  // One erase, and a header with the time of this run.
  t.is(blocks.changes, 2);
  for (let n = 1; n < 10; n++) outbox.append(textOf(n), undefined);
  t.is(blocks.changes, 2);
  await host.clock.advance(1000);
  // One write for all of them.
  t.is(blocks.changes, 3);
  t.deepEqual(waitingNumbers(rig(restarted(blocks)).outbox), upTo(10));
});

test("what was delivered within the second is never written to flash", async (t) => {
  const blocks = flash(4, 4096);
  const { outbox, host } = rig(blocks, { durable: false });
  outbox.append(textOf(0), undefined);
  const { changes } = blocks;
  for (let n = 1; n < 10; n++) outbox.append(textOf(n), undefined);
  outbox.confirm(outbox.first + 10);
  await host.clock.advance(5000);
  t.is(blocks.changes, changes);
});

const RECORDED = 214;

// With power losses at every write: test/power-loss/cases/outbox.ts.
test("without room the oldest or the newest points go, and are counted", (t) => {
  for (const sectors of [0, 2, 6])
    for (const drop of ["oldest", "newest"] as const) {
      const { outbox } = rig(flash(sectors), { drop, bufferBytes: 1024 });
      const accepted = upTo(RECORDED).filter((n) => outbox.append(textOf(n), undefined));
      const { full } = outbox.dropped;
      t.true(full > 50 && full < RECORDED - 5, `${sectors} sectors: ${full}`);
      const left = drop === "oldest" ? upTo(RECORDED, full) : accepted;
      t.deepEqual(waitingNumbers(outbox), left);
      t.is(accepted.length, drop === "oldest" ? RECORDED : RECORDED - full);
      outbox.dropRefused(outbox.first + 2);
      outbox.confirm(outbox.first + 3);
      t.deepEqual(waitingNumbers(outbox), left.slice(5));
      t.like(outbox.dropped, { full, refused: 2 });
    }
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

test("points still in memory are not read from flash, so damage there does not take them", (t) => {
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
  t.deepEqual(waitingNumbers(rig(restarted(blocks)).outbox), [7]);
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

// What a start finds in the blocks: the queue, one of another format, something else, or nothing
// that can be read.

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

test("a queue or witness of another version counts as a lost point, once", (t) => {
  const lost = (rows: readonly Rig[]) => rows.map(({ outbox }) => outbox.dropped.unreadable);
  const filled = () => {
    const blocks = flash(4);
    const { outbox } = rig(blocks);
    for (let n = 0; n < 20; n++) outbox.append(textOf(n), undefined);
    return blocks;
  };
  const otherFormat = filled();
  // The kind of a state's record is its format, and each sector begins with two.
  for (let at = 0; at < otherFormat.size; at += otherFormat.sectorSize)
    for (const copy of [0, OPENING_BYTES / 2]) otherFormat.bytes[at + copy + 6] = 37;
  const otherQueue = rig(otherFormat);
  t.deepEqual(lost([otherQueue, rig(restarted(otherFormat), {}, otherQueue.host.store)]), [1, 1]);
  const store = new FakeStore();
  for (const bytes of [storedBytes("[]", 2), storedBytes("[]")]) {
    store.values.set("queue", bytes);
    const blank = flash(4);
    const otherWitness = rig(blank, {}, store);
    t.deepEqual(lost([otherWitness, rig(restarted(blank), {}, store)]), [1, 1]);
  }
  t.deepEqual(store.values.get("queue-old"), storedBytes("[]", 2), "the other version finds its own");
  store.values.set("queue", storedBytes("[]", 2));
  t.deepEqual(lost([rig(restarted(filled()), {}, store)]), [0], "an intact queue lacks nothing");
});

test("a point that no batch of a smaller batchBytes takes is counted, and blocks no other", (t) => {
  for (let length = 980; length < 1500; length += 4) {
    const blocks = flash(8, 4096);
    const { outbox } = rig(blocks, { batchBytes: 2048 });
    outbox.append(new TextEncoder().encode(`{"n":"${"x".repeat(length - 8)}"}`), undefined);
    outbox.append(textOf(1), undefined);
    const { outbox: next } = rig(restarted(blocks), { batchBytes: 1024 });
    const builder = new BatchBuilder(next);
    let delivered = 0;
    for (let tries = 0; next.waiting > 0 && tries < 4; tries++) {
      const batch = builder.build(10);
      if (batch) next.confirm(batch.number + batch.points);
      delivered += batch?.points ?? 0;
    }
    t.is(delivered + next.dropped.unreadable, 2, `${length} bytes`);
    t.is(next.waiting, 0);
    t.is(next.dropped.unreadable, length <= next.maxText ? 0 : 1);
  }
});

// Blocks that fail for a while: the queue goes on in memory, and comes back to them.

test("whatever write or erase fails, points that wait are there in order, once or again", async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = randomBytes(seed);
    const blocks = flash(24);
    const { outbox, host } = rig(blocks, { bufferBytes: 4096 });
    blocks.fails = (what) => what !== "read" && next() < 40;
    let confirmed = 0;
    for (let step = 0; step < 40; step++) {
      for (let points = next() % 4; points > 0; points--) outbox.append(textOf(outbox.next), undefined);
      const found = waitingNumbers(outbox, next() % 8);
      if (found.length > 0) {
        t.true(found[0]! <= confirmed, `seed ${seed}: ${confirmed} were confirmed, ${found[0]} is first`);
        confirmed = found.at(-1)! + 1;
        outbox.confirm(outbox.first + found.length);
      }
      if (next() % 4 === 0) await host.clock.advance(60_000);
    }
    const found = waitingNumbers(outbox);
    t.deepEqual(found, upTo(outbox.next, found[0] ?? outbox.next), `seed ${seed}`);
    t.deepEqual(blocks.violations, [], `seed ${seed}`);
  }
});

// The CRC of a record in the durable queue.

const SEQUENCE = 7;
const STATE = { ...emptyState(), sequence: SEQUENCE };

/** A sealed record of `length` bytes that are random, its last word filled. */
function recordOf(length: number, seed: number): Records {
  const records = recordsIn(new Uint8Array(padded(length)), crc32);
  const { bytes } = records;
  const next = randomBytes(seed);
  for (let i = 6; i < length; i++) bytes[i] = next();
  bytes[4] = length;
  bytes[5] = length >> 8;
  seal(records, 0, length, STATE);
  return records;
}

const intact = (records: Records, sequence = SEQUENCE) =>
  intactLength(records, 0, records.bytes.length, sequence);

test("any one or two bits that changed are found, and a word that is any other", (t) => {
  const records = recordOf(68, 1);
  const { words, bytes } = records;
  const flip = (bit: number) => {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  };
  let missed = 0;
  for (let one = 0; one < bytes.length * 8; one++) {
    flip(one);
    if (intact(records) !== 0) missed++;
    for (let two = 0; two < one; two++) {
      flip(two);
      if (intact(records) !== 0) missed++;
      flip(two);
    }
    flip(one);
  }
  const next = randomBytes(2);
  for (let i = 0; i < 20_000; i++) {
    const word = i % words.length;
    const was = words[word]!;
    words[word] = was ^ ((next() << 24) | (next() << 16) | (next() << 8) | next() | 1);
    if (intact(records) !== 0) missed++;
    words[word] = was;
  }
  t.is(missed, 0);
  t.is(intact(records), 68);
});
