// Which of the application's own functions ran: byte code by its address, from the engine's tables in the image. What lies in them by name is said by mc.xs.c, from which
// they were compiled.
import type { Symbols } from "./symbols.js";

/** A function that was preloaded. Functions within it are part of it. */
export interface ScriptFunction {
  readonly address: number;
  readonly name: string;
}

const SLOT = 16;
/** Of a slot: where its function's byte code is. */
const CODE = 8;
const FUNCTION = /^\/\* (\d+) \*\/.*?\.ID = (?:xsID_)?(\w+),.*\.kind = XS_CODE_X_KIND\}.*\(txByte\*\)"/gm;
/** Where an interrupt begins and ends, and where tasks are switched. */
const TASKS = ["rtos_int_enter", "rtos_int_exit", "vTaskSwitchContext"] as const;
const NAMELESS = "XS_NO_ID";

/** `word`: the machine's word at an address of the image; undefined outside. In the order of addresses. */
export function scriptFunctions(
  tables: string,
  symbols: Symbols,
  word: (address: number) => number | undefined,
): ScriptFunction[] {
  const heap = symbols.address("gxHeap");
  if (heap === undefined) return [];
  return [...tables.matchAll(FUNCTION)]
    .flatMap(([, index, name]) => {
      const address = word(heap + SLOT * Number(index) + CODE);
      return address === undefined
        ? []
        : [{ address, name: name === NAMELESS ? `(nameless ${index})` : name! }];
    })
    .sort((one, other) => one.address - other.address);
}

/** Longer than any function: the last one's end is nowhere said. */
const LONGEST = 8192;

/** What the plugin has to know to follow byte code: see its file. Nothing where an image has no engine. */
export function followWords(functions: readonly ScriptFunction[], symbols: Symbols): string {
  const run = symbols.range("fxRunID");
  const [enter, exit, change] = TASKS.map((name) => symbols.address(name));
  const [first, last] = [functions[0], functions.at(-1)];
  if (!run || !first || !last || !enter || !exit || !change) return "";
  const hex = (address: number): string => address.toString(16);
  return [
    ["run", `${hex(run[0])}-${hex(run[1])}`],
    ["code", `${hex(first.address & ~3)}-${hex(last.address + LONGEST)}`],
    ["enter", hex(enter)],
    ["exit", hex(exit)],
    ["switch", hex(change)],
  ]
    .map(([name, value]) => `,${name}=${value}`)
    .join("");
}

/** The function that an address of byte code belongs to. */
export function scriptAt(functions: readonly ScriptFunction[], address: number): string {
  let [low, high] = [0, functions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    // The plugin counts by words.
    if (functions[middle]!.address <= (address | 3)) low = middle + 1;
    else high = middle;
  }
  return functions[low - 1]?.name ?? "(unknown)";
}
