// Flashes a board with esptool. Checks chip, flash size and partition table before it writes.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "../esp32/flash-image.js";
import { SdkError } from "../sdk.js";
import { type Esptool, type FoundBoard, identify, readFlash, restart, writeParts } from "./esptool.js";
import { checkParts, choose, type Flashable, megabytes } from "./firmware.js";
import { isErased, TABLE_BYTES, TABLE_OFFSETS } from "./partition-table.js";

export interface Flashing {
  /** Undefined: esptool takes the first port with a board. */
  readonly port?: string | undefined;
  readonly baud: number;
  /** Chooses among builds for several targets. */
  readonly target?: string | undefined;
  /** Erases everything that the board stored. */
  readonly erase: boolean;
  /** Written beside the program: the NVS of a device. */
  readonly more?: readonly Part[];
  say(line: string): void;
  /** Called before everything is erased; rejects if the answer is no. */
  confirm(question: string): Promise<void>;
}

export interface Flashed {
  readonly board: FoundBoard;
  readonly firmware: Flashable;
  readonly bytes: number;
  /** Partition table of the board before: none, the same, or one that differs or cannot be read. */
  readonly table: "none" | "same" | "different";
}

const STORED = { none: "nothing yet", same: "stays: Wi-Fi, token, settings, points", erased: "is erased" };

/** Checks the board and writes part by part. SdkError: nothing was written unless it says so. */
export async function flashBoard(
  esptool: Esptool,
  programs: readonly Flashable[],
  how: Flashing,
): Promise<Flashed> {
  const { baud, erase, say } = how;
  const board = await identify(esptool, how.port);
  say(`board     ${nameOf(board)}, at ${board.port}`);
  const fit = await decide(esptool, programs, board, how).catch(async (error) => {
    // The board goes on with the program that it has.
    await restart(esptool, board.port);
    throw error;
  });
  const { parts } = fit.firmware;
  const code = await writeParts(esptool, { port: board.port, chip: board.chip, baud, erase, parts });
  if (code !== 0)
    throw new SdkError(
      `esptool failed with exit code ${code}: the program on the board may be incomplete. Flash the board again; with a bad cable, try a lower --baud`,
    );
  return { board, ...fit };
}

/** All checks before writing. Throws SdkError for a refusal, or the error of `confirm`. */
async function decide(
  esptool: Esptool,
  programs: readonly Flashable[],
  board: FoundBoard,
  { target, erase, more = [], say, confirm }: Flashing,
): Promise<Pick<Flashed, "firmware" | "bytes" | "table">> {
  const chosen = choose(programs, board.chip, target);
  const firmware = { ...chosen, parts: [...chosen.parts, ...more] };
  say(`firmware  ${firmware.name} ${firmware.version}, ${firmware.target}`);
  const { bytes } = checkParts(firmware, board.flashBytes);
  const table = await compareTables(esptool, board.port, firmware);
  if (table === "different" && !erase)
    throw new SdkError(
      "the partition table on the board differs from this program's, or its flash is encrypted: the board would look for its stored data in the wrong place. Nothing was written. Update an encrypted board over the air. For another board, --erase writes the program and deletes Wi-Fi, token, settings and undelivered points",
    );
  if (erase && table !== "none")
    await confirm(
      `Erase everything that ${nameOf(board)} at ${board.port} stored? Wi-Fi, token, settings and undelivered points are lost. An encrypted board does not start afterwards.`,
    );
  say(`stored    ${STORED[erase && table !== "none" ? "erased" : table === "different" ? "erased" : table]}`);
  return { firmware, bytes, table };
}

const nameOf = ({ chip, mac, flashBytes }: FoundBoard): string =>
  `${chip}, ${flashBytes === undefined ? "flash of unknown size" : `${megabytes(flashBytes)} of flash`}, MAC ${mac}`;

/** Encryption and secure boot move the table, so a board may have it at another offset. */
async function compareTables(
  esptool: Esptool,
  port: string,
  { parts }: Flashable,
): Promise<Flashed["table"]> {
  const ours = parts.find(({ offset }) => TABLE_OFFSETS.includes(offset));
  let isEmpty = true;
  for (const offset of TABLE_OFFSETS) {
    const bytes = await read(esptool, port, offset);
    if (ours?.offset === offset) {
      const table = readFileSync(ours.file);
      if (bytes.subarray(0, table.length).equals(table.subarray(0, TABLE_BYTES))) return "same";
    }
    isEmpty &&= isErased(bytes);
  }
  return isEmpty ? "none" : "different";
}

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
