// Reads the output of the SDK's linker: mc.xs.c.

/** Bytes of a slot on a 32-bit board. */
const SLOT = 16;
const POINTER = 4;

export interface Rom {
  /** Slots of preloaded objects. */
  readonly slots: number;
  /** Names that programs use. */
  readonly keys: number;
  /** Bytes: the code of preloaded functions. */
  readonly code: number;
  /** Bytes: texts. */
  readonly texts: number;
  /** Bytes of the block that the engine takes at start; 0: none, it takes memory piece by piece. */
  readonly engine: number;
  /** Bytes that the engine reserves at its start for chunks, slots and stack. */
  readonly begins: number;
  /** Modules that are not preloaded. They take RAM from their first import on. */
  readonly unpreloaded: readonly { readonly name: string; readonly bytes: number }[];
}

const CODE = /\.code = \{ \(txByte\*\)"((?:[^"\\]|\\.)*)"/g;
const TEXT = /(?:\.key = \{ (?:\(txString\))?|\.string = )"((?:[^"\\]|\\.)*)"/g;
const ESCAPE = /\\(?:x[0-9a-f]{2}|[0-7]{3}|.)/g;
/** Creation parameters: chunk, heap, stack, keys, names, symbols, parser, …, block. */
const CREATION = /^\t\{ (\d+), \d+, (\d+), \d+, (\d+), (?:\d+, ){6}(\d+), \d+\},$/m;
const UNPRELOADED = /^\t\{ \w+, \w+, \d+, \(txS1\*\)gxCode\d+, (\d+), [^"]*"([^"]+)"/gm;

/** Throws if `source` is no mc.xs.c. */
export function readRom(source: string): Rom {
  const number = (name: string): number => {
    const [, digits] = new RegExp(`#define ${name} (\\d+)`).exec(source) ?? [];
    if (digits === undefined) throw new Error(`mc.xs.c: ${name} is missing`);
    return Number(digits);
  };
  const total = (pattern: RegExp, more: number): number => {
    let bytes = 0;
    for (const [, text = ""] of source.matchAll(pattern)) bytes += text.replace(ESCAPE, "x").length + more;
    return bytes;
  };
  const [chunks, slots, stack, engine] = (CREATION.exec(source) ?? []).slice(1).map(Number);
  return {
    slots: number("mxHeapCount"),
    keys: number("mxKeysCount"),
    code: total(CODE, 0),
    texts: total(TEXT, 1),
    engine: engine ?? 0,
    begins: (chunks ?? 0) + ((slots ?? 0) + (stack ?? 0)) * SLOT,
    unpreloaded: [...source.matchAll(UNPRELOADED)].map(([, bytes, name]) => ({
      name: name!,
      bytes: Number(bytes),
    })),
  };
}

/** Bytes that the engine's data takes on a 32-bit board, native code aside. */
export function romBytes({ slots, keys, code, texts, unpreloaded }: Rom): number {
  const rest = unpreloaded.reduce((sum, { bytes }) => sum + bytes, 0);
  return slots * SLOT + keys * POINTER + code + texts + rest;
}
