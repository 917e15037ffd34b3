// One damaged document after the other: each follows from seed, parser and number alone, so that
// any of them can be had again.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { COMMISSION_PARSERS } from "./commission-parsers.js";
import { FLASH_PARSERS } from "./flash-parsers.js";
import { JSON_PARSERS } from "./json-parsers.js";
import { type Chance, mutated } from "./mutate.js";
import { NET_PARSERS } from "./net-parsers.js";
import { type Parser, whole } from "./parser.js";
import { REPORT } from "./report-parser.js";

export const PARSERS: readonly Parser[] = [
  ...JSON_PARSERS,
  ...NET_PARSERS,
  ...FLASH_PARSERS,
  ...COMMISSION_PARSERS,
  REPORT,
];

/**
 * Of this process's own time; a document is read again before it is called slow, as a collection
 * may have come between.
 */
const SLOW_MS = 500;
/** Longer documents are not cut into single bytes. */
const SINGLES = 500;

export interface Failure {
  readonly parser: string;
  readonly seed: number;
  readonly number: number;
  readonly document: Uint8Array;
  readonly why: string;
}

/** mulberry32 over seed, parser and number. */
function chanceOf(seed: number, name: string, number: number): Chance {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35);
  for (let i = 0; i < name.length; i++) state = Math.imul(state ^ name.charCodeAt(i), 0x01000193);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function pieces(document: Uint8Array, chance: Chance): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let from = 0; from < document.length; ) {
    const to = from + 1 + chance(chance(4) === 0 ? document.length : 12);
    cut.push(document.subarray(from, to));
    from = to;
  }
  return cut;
}

/** What came of it, as text; a promise broken is thrown. */
function outcome(parser: Parser, cut: readonly Uint8Array[]): string {
  const began = performance.now();
  const text = JSON.stringify(parser.read(cut)) ?? "";
  if (performance.now() - began < SLOW_MS) return text;
  const again = process.cpuUsage().user;
  parser.read(cut);
  const ms = (process.cpuUsage().user - again) / 1000;
  if (ms >= SLOW_MS) throw new Error(`broken: it took ${Math.round(ms)} ms`);
  return text;
}

/** Reads document `number`. Undefined if every promise holds. */
export function check(parser: Parser, seed: number, number: number): Failure | undefined {
  const chance = chanceOf(seed, parser.name, number);
  const document = mutated(parser.documents, chance);
  const fail = (why: string): Failure => ({ parser: parser.name, seed, number, document, why });
  try {
    const one = outcome(parser, [document]);
    if (!parser.incremental) return undefined;
    if (outcome(parser, pieces(document, chance)) !== one)
      return fail("broken: cut into pieces it is read otherwise");
    if (document.length > SINGLES) return undefined;
    const single = Array.from(document, (byte) => Uint8Array.of(byte));
    return outcome(parser, single) === one ? undefined : fail("broken: byte by byte it is read otherwise");
  } catch (error) {
    return fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Lets what a document set off come to its end, now and then. */
const BREATH = 500;
/**
 * Nothing of a document is kept; what is no longer used may wait for the collector, so it is made
 * to run before anything is said.
 */
const HEAP_BYTES = 16 * 1024 * 1024;
/** Buffers that a collection found unused are given back beside it, and counted in the next. */
const COLLECTIONS = 4;

/** Reads documents `from` to `to` (excluded); the first failure ends it. */
export async function checkAll(
  parser: Parser,
  seed: number,
  from: number,
  to: number,
): Promise<Failure | undefined> {
  const before = memoryKept();
  for (let number = from; number < to; number++) {
    const failure = check(parser, seed, number);
    if (failure) return failure;
    if (number % BREATH !== 0) continue;
    await breath();
    let grown = memory() - before;
    for (let collections = 0; grown > HEAP_BYTES && collections < COLLECTIONS; collections++) {
      grown = memoryKept() - before;
      await breath();
    }
    if (grown > HEAP_BYTES) {
      const why = `broken: ${Math.round(grown / 1e6)} MB more in use than before`;
      return { parser: parser.name, seed, number, document: whole([]), why };
    }
  }
  return undefined;
}

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function memoryKept(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return memory();
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** What it was, and the command that shows it again. */
export function report({ parser, seed, number, document, why }: Failure): string {
  const shown = document.subarray(0, 300);
  return [
    `${parser}: ${why}`,
    `document ${number} of seed ${seed}, ${document.length} bytes: ${JSON.stringify(Buffer.from(shown).toString("latin1"))}`,
    `again: node scripts/campaign.mjs fuzz --seed ${seed} --parser ${parser} --number ${number}`,
  ].join("\n");
}
