// Damage to documents: each mutation takes bytes and gives others; chance alone decides where.

/** 0 (included) to `below` (excluded), whole. */
export type Chance = (below: number) => number;

/**
 * Longer documents are cut, as the bodies that the agent reads are before they are parsed; one in
 * 16 later.
 */
const LONG = 4096;
const LONGEST = 32_768;

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");

const TOKENS = [
  ...['"', "\\", "{", "}", "[", "]", ",", ":", "null", "-", "1e999", "-0", "\\u005f", "\\ud800", "__proto__"],
  ...["\u0000", "😀", "\ud7ff\ue000", '"id":', '"method":', "NaN", "\r\n", "\n", "\r\n\r\n", " ", "\t", ";"],
  ...["constructor", "HTTP/1.1 ", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "100", "0\r\n\r\n"],
].map(bytes);
const NUMBERS = [
  ...["0", "-1", "255", "256", "65535", "65536", "2147483647", "2147483648", "-2147483649", "4294967296"],
  ...[
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551616",
    "1e308",
    "1e-400",
    "0.1",
    "00",
    "0x10",
  ],
].map(bytes);
const VALUES = [
  "null",
  "true",
  '""',
  "[]",
  "{}",
  "0",
  "-1",
  "0.5",
  "4294967296",
  '"x"',
  "[[]]",
  '{"a":null}',
].map(bytes);
const VALUE = /(?<=[:[,])(?:"[^"]*"|[\w.+-]+|\[\]|\{\})/g;
/**
 * Bytes that are no UTF-8: a continuation alone, cut sequences, too long ones, a surrogate, beyond
 * the last code point.
 */
const UNFIT = ["80", "c3", "e282", "f09f98", "c080", "e08080", "eda080", "f4908080", "fe", "ff"].map(
  (hex) => new Uint8Array(Buffer.from(hex, "hex")),
);
const OPENERS = ["[", "{", '{"a":', '[{"":[', '"', "\\", '{"params":', "a\r\n"].map(bytes);

function join(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

function replace(document: Uint8Array, from: number, to: number, by: Uint8Array): Uint8Array {
  return join(document.subarray(0, from), by, document.subarray(to));
}

function repeat(piece: Uint8Array, times: number): Uint8Array {
  return Buffer.alloc(piece.length * times, piece);
}

function pick<T>(list: readonly T[], chance: Chance): T {
  return list[chance(list.length)] as T;
}

/**
 * Where a run of digits begins and ends, at or behind a place of chance; undefined if there is
 * none.
 */
function digits(document: Uint8Array, chance: Chance): [number, number] | undefined {
  const isDigit = (at: number) => document[at]! >= 0x30 && document[at]! <= 0x39;
  let from = chance(document.length + 1);
  while (from < document.length && !isDigit(from)) from++;
  let to = from;
  while (to < document.length && isDigit(to)) to++;
  return to > from ? [from, to] : undefined;
}

type Mutation = (document: Uint8Array, chance: Chance, others: readonly Uint8Array[]) => Uint8Array;

const MUTATIONS: { readonly [name: string]: Mutation } = {
  "bits flipped": (document, chance) => {
    // Not `slice`: a Buffer's is the same memory.
    const flipped = new Uint8Array(document);
    for (let flips = 1 + chance(4); flips > 0 && flipped.length > 0; flips--)
      flipped[chance(flipped.length)]! ^= 1 << chance(8);
    return flipped;
  },
  truncated: (document, chance) => document.subarray(0, chance(document.length + 1)),
  "a piece gone": (document, chance) => {
    const from = chance(document.length + 1);
    return replace(document, from, from + chance(8), new Uint8Array());
  },
  "a piece twice": (document, chance) => {
    const from = chance(document.length + 1);
    const to = Math.min(document.length, from + 1 + chance(40));
    return replace(document, to, to, document.subarray(from, to));
  },
  spliced: (document, chance, others) => {
    const other = pick(others, chance);
    return join(document.subarray(0, chance(document.length + 1)), other.subarray(chance(other.length + 1)));
  },
  "a token inside": (document, chance) => {
    const at = chance(document.length + 1);
    return replace(document, at, at + chance(3), pick(TOKENS, chance));
  },
  "another number": (document, chance) => {
    const run = digits(document, chance);
    return run ? replace(document, run[0], run[1], pick(NUMBERS, chance)) : document;
  },
  "a number without end": (document, chance) => {
    const run = digits(document, chance);
    return run ? replace(document, run[0], run[0], repeat(bytes("9"), 1 + chance(2000))) : document;
  },
  "another value": (document, chance) => {
    const values = [...Buffer.from(document).toString("latin1").matchAll(VALUE)];
    if (values.length === 0) return document;
    const { 0: text, index } = pick(values, chance);
    return replace(document, index, index + text.length, pick(VALUES, chance));
  },
  "no UTF-8": (document, chance) => {
    const at = chance(document.length + 1);
    return replace(document, at, at + chance(2), pick(UNFIT, chance));
  },
  nested: (document, chance) => {
    const at = chance(document.length + 1);
    return replace(document, at, at, repeat(pick(OPENERS, chance), 1 + chance(chance(2) === 0 ? 40 : 4000)));
  },
  "a key twice": (document, chance) => {
    const text = Buffer.from(document).toString("latin1");
    const member = /"[^"]{0,30}":(?:"[^"]*"|[\w.-]+)/g;
    const members = text.match(member) ?? [];
    if (members.length === 0) return document;
    const [one, other] = [pick(members, chance), pick(members, chance)];
    const twin = `${one.slice(0, one.indexOf(":"))}${other.slice(other.indexOf(":"))}`;
    const at = text.indexOf(one);
    return replace(document, at, at, Buffer.from(`${twin},`, "latin1"));
  },
  "a long run": (document, chance) => {
    const from = chance(document.length + 1);
    const piece = document.subarray(from, from + 1 + chance(20));
    return replace(document, from, from, repeat(piece, 1 + chance(300)));
  },
};
const NAMES = Object.keys(MUTATIONS);

/**
 * One to four mutations of one of `documents`, after each other; of every second one no more than
 * one, which leaves most of it lawful.
 */
export function mutated(documents: readonly Uint8Array[], chance: Chance): Uint8Array {
  let document = pick(documents, chance);
  const most = chance(16) === 0 ? LONGEST : LONG;
  for (let changes = 1 + chance(2) * chance(4); changes > 0; changes--) {
    document = MUTATIONS[pick(NAMES, chance)]!(document, chance, documents);
    if (document.length > most) document = document.subarray(0, most);
  }
  return document;
}
