// The checksum of a record in the durable queue.
import test from "ava";
import { MAX_RECORD, STATUS_BYTES, seal, soundLength, whole } from "../../../../src/agent/queue/record.js";
import { randomBytes } from "../../../fakes/host.js";

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

test("any three bits of a status entry that changed are found", (t) => {
  const { words } = recordOf(STATUS_BYTES, 4);
  const flip = (bit: number) => {
    words[bit >> 5]! ^= 1 << (bit & 31);
  };
  let missed = 0;
  for (let one = 0; one < STATUS_BYTES * 8; one++) {
    flip(one);
    for (let two = 0; two < one; two++) {
      flip(two);
      for (let three = 0; three < two; three++) {
        flip(three);
        if (sound(words) !== 0) missed++;
        flip(three);
      }
      flip(two);
    }
    flip(one);
  }
  t.is(missed, 0);
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

test("no three bits cancel each other in a record of 1 KiB", (t) => {
  const bitOf = new Map<number, number>();
  const sums: number[] = [];
  for (let bit = 0; bit < 32; bit++) {
    let state = 1 << bit;
    for (let i = 0; i < 256; i++) {
      bitOf.set(state, sums.length);
      sums.push(state);
      state = move(state);
    }
  }
  // Of three bits one lies in the last word of those that they are in: the register moves all of them alike.
  let cancelled = 0;
  for (let bit = 0; bit < 32; bit++) for (const sum of sums) if (bitOf.has(sum ^ (1 << bit))) cancelled++;
  t.is(cancelled, 0);
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
