import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { codeOf } from "../../../hosts/node/files.js";
import type { Row } from "../../../src/report/index.js";

const PIECE = 65_536;

/** Keeps rows that arrive before their columns in a private file. Throws on a full disk. */
export class Spool {
  readonly #directory: string;
  readonly #file: number;
  #text = "";

  constructor() {
    this.#directory = noted(() => mkdtempSync(join(tmpdir(), "mote-rows-")));
    this.#file = noted(() => openSync(join(this.#directory, "rows"), "w+", 0o600));
  }

  add(row: Row): void {
    this.#text += `${JSON.stringify(row)}\n`;
    if (this.#text.length >= PIECE) this.#flush();
  }

  *rows(): Generator<Row> {
    this.#flush();
    const decoder = new StringDecoder("utf8");
    const bytes = Buffer.alloc(PIECE);
    let rest = "";
    let at = 0;
    for (;;) {
      const count = readSync(this.#file, bytes, 0, PIECE, at);
      if (count === 0) return;
      at += count;
      const lines = (rest + decoder.write(bytes.subarray(0, count))).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as Row;
    }
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    let done = 0;
    while (done < bytes.length) done += noted(() => writeSync(this.#file, bytes, done));
  }
}

/** Names the temporary directory in errors. */
function noted<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`cannot store rows in ${tmpdir()} (${codeOf(error)})`, {
      cause: error,
    });
  }
}
