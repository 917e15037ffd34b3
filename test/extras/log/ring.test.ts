// The ring of the last lines against a model: random lines and restarts, every byte at which a machine may go, and damage of each kind.
import test from "ava";
import fc from "fast-check";
import { LONGEST, Ring } from "../../../extras/log/ring.js";
import { randomBytes, seededRandom } from "../../fakes/host.js";
import { Cut, FakeLogMemory } from "./memory.js";

const HEADS = 64;
const AROUND = 9;
const LEAST = HEADS + 2 * (AROUND + LONGEST);

interface Line {
  level: number;
  tenths: number;
  text: string;
}

const shown = (ring: Ring, from = 1): (Line & { number: number })[] => {
  const lines: (Line & { number: number })[] = [];
  ring.read(from, ({ number, level, tenths, text }) => {
    lines.push({ number, level, tenths, text: Buffer.from(text).toString("latin1") });
    return true;
  });
  return lines;
};

const bytesOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { text }) => sum + AROUND + text.length, 0);

const append = (ring: Ring, { level, tenths, text }: Line): boolean =>
  ring.append(level, tenths, Buffer.from(text, "latin1"));

/** The newest that find room together, with their numbers. */
const kept = (all: readonly Line[], room: number): (Line & { number: number })[] => {
  let from = all.length;
  while (from > 0 && bytesOf(all.slice(from - 1)) <= room) from--;
  return all.slice(from).map((line, at) => ({ number: from + at + 1, ...line }));
};

const line = fc.record({
  level: fc.integer({ min: 0, max: 3 }),
  tenths: fc.integer({ min: 0, max: 0xffffffff }),
  text: fc
    .oneof(fc.integer({ min: 0, max: LONGEST }), fc.constantFrom(0, 1, LONGEST))
    .map((length) => "0123456789".repeat(24).slice(0, length)),
});
const sizes = fc.oneof(fc.constantFrom(LEAST, 4096), fc.integer({ min: LEAST, max: 1200 }));

test("after any lines and restarts it holds the newest that find room, each as it was, with its number", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(sizes, fc.array(fc.tuple(line, fc.boolean()), { maxLength: 120 }), (size, steps) => {
        const memory = new FakeLogMemory(size);
        const all: Line[] = [];
        let ring = new Ring(memory, seededRandom(1));
        let id: number | undefined;
        for (const [one, restarts] of steps) {
          if (restarts) ring = new Ring(memory, seededRandom(2));
          if (!append(ring, one)) return false;
          all.push(one);
          // Until something is kept there is nothing to go on with.
          id ??= ring.id;
        }
        const lines = shown(new Ring(memory, seededRandom(3)));
        const expected = kept(all, size - HEADS);
        const same = JSON.stringify(lines) === JSON.stringify(expected);
        return same && (all.length === 0 || ring.id === id) && ring.next === all.length + 1;
      }),
      { numRuns: 300 },
    ),
  );
});

test("a power loss at any byte of a write leaves the earlier lines, or also the new one", (t) => {
  const next = randomBytes(7);
  const tears = [
    undefined,
    // Words in no order: each byte of the rest may be there or not.
    (piece: Uint8Array, done: number) => piece.map((byte, at) => (at < done || next() % 2 ? byte : 0xee)),
  ];
  let cuts = 0;
  for (const tear of tears) {
    const before = new FakeLogMemory(LEAST + 40);
    const all: Line[] = [];
    for (let n = 0; n < 60; n++) {
      const one = { level: n % 4, tenths: n, text: `${n} `.padEnd(next() % (LONGEST + 1), "x") };
      for (let left = 0; ; left++) {
        const memory = new FakeLogMemory(before.bytes.slice());
        if (tear) memory.tears = tear;
        memory.left = left;
        const ring = new Ring(memory, seededRandom(1));
        try {
          append(ring, one);
        } catch (error) {
          if (!(error instanceof Cut)) throw error;
          cuts++;
          memory.left = undefined;
          const lines = shown(new Ring(memory, seededRandom(2)));
          const old = kept(all, before.size - HEADS);
          const after = kept([...all, one], before.size - HEADS);
          const rest = old.filter(({ number }) => number >= after[0]!.number);
          const allowed = [old, rest, after].map((some) => JSON.stringify(some));
          // At the very first line there is nothing to lose.
          if (!allowed.includes(JSON.stringify(lines))) return t.fail(`line ${n}, byte ${left}`);
          // It goes on.
          const again = new Ring(memory, seededRandom(3));
          if (!append(again, { level: 1, tenths: 0, text: "on" })) return t.fail(`line ${n}, byte ${left}`);
          if (shown(new Ring(memory, seededRandom(4))).at(-1)?.text !== "on")
            return t.fail(`line ${n}, byte ${left}: what follows`);
          continue;
        }
        break;
      }
      append(new Ring(before, seededRandom(1)), one);
      all.push(one);
    }
  }
  t.true(cuts > 5000, `${cuts} cuts`);
});

test("memory that nobody wrote, or that decayed, is empty, and another ring", (t) => {
  for (let seed = 1; seed < 40; seed++) {
    const next = randomBytes(seed);
    const memory = new FakeLogMemory(Uint8Array.from({ length: 4096 }, next));
    const ring = new Ring(memory, seededRandom(seed));
    t.deepEqual(shown(ring), []);
    t.is(ring.first, ring.next);
    append(ring, { level: 1, tenths: 1, text: "here" });
    t.is(shown(new Ring(memory, seededRandom(1)))[0]?.text, "here");
  }
});

test("whichever bit flips, no line is shown that was none", (t) => {
  const whole = new FakeLogMemory(LEAST);
  const ring = new Ring(whole, seededRandom(1));
  for (let n = 0; n < 30; n++) append(ring, { level: 2, tenths: n, text: `line ${n} of thirty` });
  const lines = shown(ring).map(({ text }) => text);
  let emptied = 0;
  for (let bit = 0; bit < LEAST * 8; bit++) {
    const memory = new FakeLogMemory(whole.bytes.slice());
    memory.bytes[bit >> 3]! ^= 1 << (bit & 7);
    // A damage of before takes no line of this run with it, looked at or not.
    const unseen = new Ring(new FakeLogMemory(memory.bytes.slice()), seededRandom(2));
    append(unseen, { level: 0, tenths: 0, text: "on" });
    if (shown(unseen).at(-1)?.text !== "on") return t.fail(`bit ${bit}: what came after it is lost`);
    const found = new Ring(memory, seededRandom(2));
    const seen = shown(found).map(({ text }) => text);
    if (found.id !== ring.id) emptied++;
    // Those before the damage were whole.
    if (!seen.every((text) => lines.includes(text))) return t.fail(`bit ${bit}: ${seen}`);
    if (!append(found, { level: 0, tenths: 0, text: "on" })) return t.fail(`bit ${bit}: it does not go on`);
  }
  t.true(emptied > 1000);
});

test("a memory that fails for a while loses what came then, and nothing that it vouches for", (t) => {
  const memory = new FakeLogMemory(LEAST);
  const ring = new Ring(memory, seededRandom(1));
  const long = (n: number): Line => ({ level: 1, tenths: n, text: `${n} `.padEnd(150, "y") });
  for (let n = 0; n < 10; n++) append(ring, long(n));
  // Each write in turn fails, the others do not.
  for (let failing = 0; failing < 6; failing++) {
    let count = 0;
    const write = memory.write.bind(memory);
    memory.write = (at, piece) => count++ !== failing && write(at, piece);
    append(ring, long(100 + failing));
    memory.write = write;
    const texts = shown(new Ring(memory, seededRandom(2))).map(({ text }) => text);
    t.true(texts.length >= 1);
    for (const text of texts) t.regex(text, /^\d+ y+$/);
  }
  memory.fails = true;
  t.false(append(ring, long(7)));
  t.false(append(new Ring(memory, seededRandom(1)), long(7)));
});

test("a line costs three writes at the most where it finds room, and one more where others go", (t) => {
  const memory = new FakeLogMemory(4096);
  const ring = new Ring(memory, seededRandom(1));
  for (let n = 0; n < 500; n++) {
    memory.writes = 0;
    append(ring, { level: 1, tenths: n, text: "a line of forty letters, as there are many" });
    t.true(memory.writes <= 4);
  }
});

test("what is forgotten has left no byte, and the next lines are another ring's", (t) => {
  const memory = new FakeLogMemory(LEAST + 100);
  const ring = new Ring(memory, seededRandom(1));
  for (let n = 0; n < 30; n++) append(ring, { level: 2, tenths: n, text: `line ${n} of the owner before` });
  const { id } = ring;
  t.true(ring.forget());
  t.false(Buffer.from(memory.bytes).toString("latin1").includes("owner"));
  t.true(append(ring, { level: 1, tenths: 1, text: "on" }));
  const texts = shown(new Ring(memory, seededRandom(2))).map(({ text }) => text);
  t.deepEqual(texts, ["on"]);
  t.not(ring.id, id);
  memory.fails = true;
  t.false(ring.forget());
  t.true(new Ring(new FakeLogMemory(LEAST - 1), seededRandom(1)).forget());
});

test("what is too long, or finds no room in a memory that is too small, is not kept", (t) => {
  const ring = new Ring(new FakeLogMemory(4096), seededRandom(1));
  t.false(append(ring, { level: 1, tenths: 0, text: "x".repeat(LONGEST + 1) }));
  t.false(append(new Ring(new FakeLogMemory(LEAST - 1), seededRandom(1)), { level: 1, tenths: 0, text: "" }));
});
