// A program onto a board, by its cable: the right one for it, nothing lost unasked, each step said.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "../esp32/flash-image.js";
import { SdkError } from "../sdk.js";
import { type Esptool, type FoundBoard, identify, readFlash, restart, writeParts } from "./esptool.js";
import { checkParts, choose, type Flashable, megabytes } from "./firmware.js";
import {
  changesBetween,
  type Entry,
  isErased,
  readTable,
  TABLE_BYTES,
  TABLE_OFFSETS,
} from "./partition-table.js";
import type { ReturningPort } from "./returning-port.js";

export interface Flashing {
  readonly cable: ReturningPort;
  readonly baud: number;
  /** A target of a project that was built for several. */
  readonly target?: string | undefined;
  /** The owner's word: all that the board stored goes. */
  readonly erase: boolean;
  /** Written beside the program: what a device knows before its first start. */
  readonly more?: readonly Part[];
  /** The output is for a program. */
  readonly aside: boolean;
  say(line: string): void;
  /** How long a board may keep silent before that is said; 5 s if not given. */
  readonly lateMs?: number;
  /** Asked before all is erased; rejects where the answer is no. */
  confirm(question: string): Promise<void>;
}

export interface Flashed {
  readonly cable: ReturningPort;
  readonly board: FoundBoard;
  readonly firmware: Flashable;
  readonly bytes: number;
  /** Of the board, before: nothing there, the same, or another. */
  readonly table: "none" | "same" | "changed" | "unknown";
}

/** What is lost when all is erased, or read at another place. */
const LOST = "Wi-Fi, token, settings and the points that wait";

/** Checks the board and writes part by part. SdkError: nothing was written unless it says so. */
export async function flashBoard(
  esptool: Esptool,
  programs: readonly Flashable[],
  how: Flashing,
): Promise<Flashed> {
  const { cable, baud, erase, aside, say } = how;
  const board = await whileLate(how, () => cable.ask((port) => identify(esptool, port)));
  say(`board     ${nameOf(board)}, at ${cable.path}`);
  cable.onRenamed = (port) => checkSame(esptool, port, board);
  const fit = await decide(esptool, programs, board, how).catch(async (error) => {
    // It goes on with the program that it has.
    if (cable.isThere) await restart(esptool, cable.path);
    throw error;
  });
  const { parts } = fit.firmware;
  await cable.back();
  const code = await writeParts(esptool, { port: cable.path, chip: board.chip, baud, erase, parts, aside });
  if (code !== 0)
    throw new SdkError(
      `esptool failed with exit code ${code}: the program on the board may be incomplete. ${cable.isThere ? "Flash the board again. With a bad cable, try a lower --baud" : `${cable.path} went away meanwhile: hold BOOT, press RESET, release both, then flash the board again. Use a short cable without a hub`}`,
    );
  return { cable, board, ...fit };
}

/** esptool asks for up to half a minute, and nothing of it is shown. */
async function whileLate<T>({ cable, say, lateMs = LATE_MS }: Flashing, step: () => Promise<T>): Promise<T> {
  const timer = setTimeout(
    () =>
      say(
        `board     no answer from ${cable.path} yet. If the board has a BOOT button: hold it, press RESET, release both`,
      ),
    lateMs,
  );
  try {
    return await step();
  } finally {
    clearTimeout(timer);
  }
}

const LATE_MS = 5000;

async function checkSame(esptool: Esptool, port: string, { mac }: FoundBoard): Promise<void> {
  const there = await identify(esptool, port);
  if (there.mac !== mac)
    throw new SdkError(
      `${port} is a different board: its MAC is ${there.mac}, expected ${mac}. Nothing was written. Choose the port with --port`,
    );
}

/** All checks before writing. Throws SdkError for a refusal, or the error of `confirm`. */
async function decide(
  esptool: Esptool,
  programs: readonly Flashable[],
  board: FoundBoard,
  { cable, target, erase, more = [], say, confirm }: Flashing,
): Promise<Pick<Flashed, "firmware" | "bytes" | "table">> {
  const chosen = choose(programs, board.chip, target);
  const firmware = { ...chosen, parts: [...chosen.parts, ...more] };
  say(`firmware  ${firmware.name} ${firmware.version}, ${firmware.target}`);
  const { bytes } = checkParts(firmware, board.flashBytes);
  const { table, changes } = await compareTables(esptool, cable, firmware);
  if (table === "changed" && !erase)
    throw new SdkError(
      `the partition table of this program differs from the one on the board, so the board would look for its stored data in the wrong place. Nothing was written. --erase writes the program and deletes ${LOST}: let the board deliver its points first\n${changes.map((line) => `  ${line}`).join("\n")}`,
    );
  if (table === "unknown" && !erase)
    throw new SdkError(
      `cannot read the partition table of the board: its flash is encrypted, or it runs a program of another system. Nothing was written. An encrypted board does not start from an unencrypted image: update it over the air. For a board without encryption, use --erase; it deletes all stored data`,
    );
  if (erase && table !== "none")
    await confirm(
      `Erase all that ${nameOf(board)} at ${cable.path} stored? ${LOST} are lost.${table === "unknown" ? " If its flash is encrypted, it does not start afterwards." : ""}`,
    );
  say(`stored    ${STORED[erase && table !== "none" ? "erased" : table]}`);
  return { firmware, bytes, table };
}

const STORED = {
  none: "nothing yet",
  same: "stays: Wi-Fi, token, settings, points",
  changed: "is erased",
  unknown: "is erased",
  erased: "is erased",
} as const;

const nameOf = ({ chip, mac, flashBytes }: FoundBoard): string =>
  `${chip}, ${flashBytes === undefined ? "flash of unknown size" : `${megabytes(flashBytes)} of flash`}, MAC ${mac}`;

/** Reads the board's own table. */
async function compareTables(
  esptool: Esptool,
  cable: ReturningPort,
  { parts }: Flashable,
): Promise<{ table: Flashed["table"]; changes: string[] }> {
  const ours = parts.find(({ offset }) => TABLE_OFFSETS.includes(offset));
  const found = await boardTable(esptool, cable);
  if (typeof found === "string") return { table: found, changes: [] };
  if (ours === undefined) return { table: "same", changes: [] };
  const moved =
    found.offset === ours.offset ? [] : [`the table itself: ${hex(found.offset)} -> ${hex(ours.offset)}`];
  const changes = [...moved, ...changesBetween(found.entries, readTable(readFileSync(ours.file)))];
  return { table: changes.length === 0 ? "same" : "changed", changes };
}

/** "none": the flash is erased there. "unknown": encrypted, or not of ESP-IDF. */
async function boardTable(
  esptool: Esptool,
  cable: ReturningPort,
): Promise<{ offset: number; entries: Entry[] } | "none" | "unknown"> {
  let all: "none" | "unknown" = "none";
  for (const offset of TABLE_OFFSETS) {
    const bytes = await cable.ask((port) => read(esptool, port, offset));
    const entries = readTable(bytes);
    if (entries.length > 0) return { offset, entries };
    if (!isErased(bytes)) all = "unknown";
  }
  return all;
}

const hex = (value: number): string => `0x${value.toString(16)}`;

async function read(esptool: Esptool, port: string, offset: number): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "mote-table-"));
  const file = join(folder, "table.bin");
  try {
    await readFlash(esptool, port, { offset, bytes: TABLE_BYTES, file });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
