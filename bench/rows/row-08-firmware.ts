// An image into the slot of the Node host, as the agent does it: 2 KiB at a time as they come from a socket, hashed, each sector erased, written inverted and synced,
// the first one last, and a journal of where it is every 8 KiB, so that a power loss costs 16 KiB at most. The limit is a bare loop that makes the same promise on
// the same disk: read, digest, write and sync a sector, and every 8 KiB replace a file that says how far it is. Given beside: a loop that promises nothing and
// syncs once, at its end, and what reading back takes.
import { createHash } from "node:crypto";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceFile, UNFENCED, writeAll } from "../../hosts/node/files.js";
import { createHost, type NodeHost } from "../../hosts/node/host.js";
import { ImageWriter, slotHolds } from "../../src/agent/firmware/download/image-writer.js";
import { openCheck } from "../../src/agent/firmware/download/verification.js";
import { UNKNOWN_FILE, writeRecord } from "../../src/agent/firmware/update-journal.js";
import { stepsPerKib } from "../on-xs/image-on-xs.js";
import { inTurn, type Line, type Options, type Row } from "../row.js";
import { missing } from "../rows.js";

const SIZES = { whole: 1024 * 1024, quick: 256 * 1024 } as const;
/** What the agent reads from a socket at once. */
const PIECE = 2048;
const SECTOR = 4096;
const STEP = 8192;
const STEPS = "XS, steps of the engine for a KiB";

const RECORD = {
  ...{ key: "k", title: "lamp", version: "2.0.0", from: "1.0.0", offset: 0 },
  ...{ failures: 0, spared: 0, condemned: false, error: "", ...UNKNOWN_FILE, at: 0 },
} as const;

function* pieces(path: string, size: number): Generator<Uint8Array> {
  const file = openSync(path, "r");
  const buffer = new Uint8Array(size);
  try {
    for (let got = readSync(file, buffer); got > 0; got = readSync(file, buffer))
      yield buffer.subarray(0, got);
  } finally {
    closeSync(file);
  }
}

/** A directory with an image, and the ways to copy it. */
class Bench {
  readonly #directory = mkdtempSync(join(tmpdir(), "mote-firmware-"));
  readonly #source = join(this.#directory, "image");
  readonly #size: number;
  readonly #checksum: string;
  readonly readBack: number[] = [];
  #runs = 0;

  constructor(size: number) {
    const bytes = Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 9)) & 0xff));
    this.#size = size;
    this.#checksum = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(this.#source, bytes);
  }

  /** KiB a second, without reading back, whose figure goes to `readBack`. */
  async byMote(): Promise<number> {
    const stateDir = join(this.#directory, String(this.#runs++));
    const host = createHost({ stateDir, slotBytes: 2 * this.#size, blocksBytes: SECTOR, log: () => {} });
    try {
      const rate = await this.#rate(() => this.#write(host));
      this.readBack.push(
        await this.#rate(async () => (await slotHolds(host, this.#image)) || fail("differs")),
      );
      return rate;
    } finally {
      host.close();
      rmSync(stateDir, { recursive: true });
    }
  }

  /** The same promise, or none. */
  bare(isKept: boolean): Promise<number> {
    const path = join(this.#directory, String(this.#runs++));
    const file = openSync(path, "w");
    const hash = createHash("sha256");
    return this.#rate(async () => {
      let at = 0;
      for (const piece of pieces(this.#source, SECTOR)) {
        hash.update(piece);
        writeAll(file, piece, at);
        at += piece.length;
        if (isKept) fdatasyncSync(file);
        if (isKept && at % STEP === 0) replaceFile(`${path}.journal`, Buffer.from(String(at)), UNFENCED);
      }
      if (hash.digest("hex") !== this.#checksum) fail("differs");
      fdatasyncSync(file);
    }).finally(() => closeSync(file));
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #image() {
    const known = {
      title: "lamp",
      version: "2.0.0",
      key: "k",
      url: undefined,
      signed: undefined,
      unverified: false,
    };
    return { ...known, size: this.#size, algorithm: "SHA256", checksum: this.#checksum } as const;
  }

  async #write(host: NodeHost): Promise<void> {
    const writer = new ImageWriter(
      host,
      openCheck(host, this.#image) ?? fail("has no digest"),
      this.#size,
      0,
      {
        onTake: () => {},
        onStep: (offset) =>
          writeRecord(host, { ...RECORD, state: "downloading", offset }) || fail("has no journal"),
      },
    );
    if (!writer.open()) fail("was not erased");
    for (const piece of pieces(this.#source, PIECE)) if (!writer.take(piece)) fail("was not written");
    if ((await writer.problem()) !== undefined || !writer.finish()) fail("is not whole");
  }

  async #rate(work: () => Promise<unknown>): Promise<number> {
    const start = performance.now();
    await work();
    return this.#size / 1.024 / (performance.now() - start);
  }
}

function fail(what: string): never {
  throw new Error(`the image ${what}`);
}

async function run({ times, quick, budget }: Options): Promise<Line[]> {
  const bench = new Bench(SIZES[quick ? "quick" : "whole"]);
  const unit = "KiB a second";
  try {
    const { mote, limit, once } = await inTurn(times, {
      mote: () => bench.byMote(),
      limit: () => bench.bare(true),
      once: () => bench.bare(false),
    });
    const lines: Line[] = [
      { unit, mote, limit },
      { what: "against a loop that syncs once", unit, mote, limit: once, target: null },
      { what: "reading back", unit, mote: bench.readBack.slice(1), target: null },
    ];
    if (quick || missing("xs") !== undefined) return lines;
    const kept = budget(STEPS);
    return [
      ...lines,
      {
        what: "on XS",
        unit: "steps a KiB",
        mote: await stepsPerKib(),
        limit: kept,
        target: 1.05,
        better: "less",
      },
    ];
  } finally {
    bench.remove();
  }
}

export const row: Row = {
  id: 8,
  name: "firmware into the slot on Node, journal included, against a bare loop of read, digest and write",
  target: 0.8,
  better: "more",
  quick: true,
  exactNeeds: "xs",
  exact: async () => ({ [STEPS]: await stepsPerKib() }),
  run,
};
