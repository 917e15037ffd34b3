// The ring of the last lines against a model: random lines and restarts, every byte at which a
// machine may go, and damage of each kind.
import test from "ava";
import fc from "fast-check";
import { LONGEST, Ring } from "../../../extras/diagnostics/ring.js";
import { randomBytes } from "../../fakes/host.js";
import { Cut, FakeLogMemory } from "./memory.js";

const HEADS = 32;
const AROUND = 9;
const LEAST = HEADS + 2 * (AROUND + LONGEST);

interface Line {
  level: number;
  tenths: number;
  text: string;
}

const shown = (ring: Ring): Line[] => {
  const lines: Line[] = [];
  ring.read(({ level, tenths, text }) => {
    lines.push({ level, tenths, text: Buffer.from(text).toString("latin1") });
  });
  return lines;
};

const bytesOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { text }) => sum + AROUND + text.length, 0);

const append = (ring: Ring, { level, tenths, text }: Line): boolean =>
  ring.append(level, tenths, Buffer.from(text, "latin1"));

/** The newest that find room together. */
const kept = (all: readonly Line[], room: number): Line[] => {
  let from = all.length;
  while (from > 0 && bytesOf(all.slice(from - 1)) <= room) from--;
  return all.slice(from);
};

const line = fc.record({
  level: fc.integer({ min: 0, max: 3 }),
  tenths: fc.integer({ min: 0, max: 0xffffffff }),
  text: fc
    .oneof(fc.integer({ min: 0, max: LONGEST }), fc.constantFrom(0, 1, LONGEST))
    .map((length) => "0123456789".repeat(24).slice(0, length)),
});
const sizes = fc.oneof(fc.constantFrom(LEAST, 4096), fc.integer({ min: LEAST, max: 1200 }));

test("after any lines and restarts it holds the newest that find room, each as it was", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(sizes, fc.array(fc.tuple(line, fc.boolean()), { maxLength: 120 }), (size, steps) => {
        const memory = new FakeLogMemory(size);
        const all: Line[] = [];
        let ring = new Ring(memory);
        for (const [one, restarts] of steps) {
          if (restarts) ring = new Ring(memory);
          if (!append(ring, one)) return false;
          all.push(one);
        }
        const lines = shown(new Ring(memory));
        const expected = kept(all, size - HEADS);
        return JSON.stringify(lines) === JSON.stringify(expected);
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
        const ring = new Ring(memory);
        try {
          append(ring, one);
        } catch (error) {
          if (!(error instanceof Cut)) throw error;
          cuts++;
          memory.left = undefined;
          const lines = shown(new Ring(memory));
          const old = kept(all, before.size - HEADS);
          const after = kept([...all, one], before.size - HEADS);
          // Those that the new line overwrites may have left already.
          const rest = old.slice(old.length - after.length + 1);
          const allowed = [old, rest, after].map((some) => JSON.stringify(some));
          // At the very first line there is nothing to lose.
          if (!allowed.includes(JSON.stringify(lines))) return t.fail(`line ${n}, byte ${left}`);
          // It goes on.
          const again = new Ring(memory);
          if (!append(again, { level: 1, tenths: 0, text: "on" })) return t.fail(`line ${n}, byte ${left}`);
          if (shown(new Ring(memory)).at(-1)?.text !== "on")
            return t.fail(`line ${n}, byte ${left}: what follows`);
          continue;
        }
        break;
      }
      append(new Ring(before), one);
      all.push(one);
    }
  }
  t.true(cuts > 5000, `${cuts} cuts`);
});

test("memory that nobody wrote, or that decayed, is empty", (t) => {
  for (let seed = 1; seed < 40; seed++) {
    const next = randomBytes(seed);
    const memory = new FakeLogMemory(Uint8Array.from({ length: 4096 }, next));
    const ring = new Ring(memory);
    t.deepEqual(shown(ring), []);
    append(ring, { level: 1, tenths: 1, text: "here" });
    t.is(shown(new Ring(memory))[0]?.text, "here");
  }
});

test("whichever bit flips, no line is shown that was none", (t) => {
  const whole = new FakeLogMemory(LEAST);
  const ring = new Ring(whole);
  for (let n = 0; n < 30; n++) append(ring, { level: 2, tenths: n, text: `line ${n} of thirty` });
  const lines = shown(ring).map(({ text }) => text);
  let emptied = 0;
  for (let bit = 0; bit < LEAST * 8; bit++) {
    const memory = new FakeLogMemory(whole.bytes.slice());
    memory.bytes[bit >> 3]! ^= 1 << (bit & 7);
    // A damage of before takes no line of this run with it, looked at or not.
    const unseen = new Ring(new FakeLogMemory(memory.bytes.slice()));
    append(unseen, { level: 0, tenths: 0, text: "on" });
    if (shown(unseen).at(-1)?.text !== "on") return t.fail(`bit ${bit}: what came after it is lost`);
    const found = new Ring(memory);
    const seen = shown(found).map(({ text }) => text);
    if (seen.length === 0) emptied++;
    // Those before the damage were whole.
    if (!seen.every((text) => lines.includes(text))) return t.fail(`bit ${bit}: ${seen}`);
    if (!append(found, { level: 0, tenths: 0, text: "on" })) return t.fail(`bit ${bit}: it does not go on`);
  }
  t.true(emptied > 1000);
});

test("what is forgotten has left no byte", (t) => {
  const memory = new FakeLogMemory(LEAST + 100);
  const ring = new Ring(memory);
  for (let n = 0; n < 30; n++) append(ring, { level: 2, tenths: n, text: `line ${n} of the owner before` });
  t.true(ring.forget());
  t.false(Buffer.from(memory.bytes).toString("latin1").includes("owner"));
  t.true(append(ring, { level: 1, tenths: 1, text: "on" }));
  const texts = shown(new Ring(memory)).map(({ text }) => text);
  t.deepEqual(texts, ["on"]);
  memory.fails = true;
  t.false(ring.forget());
  t.true(new Ring(new FakeLogMemory(LEAST - 1)).forget());
});
