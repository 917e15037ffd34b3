// The flash of a board as one file: for the emulator, which runs it, and to put a new program
// beside what a device has stored.
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SdkError } from "../sdk.js";
import type { Image } from "./esp32.js";

export interface Part {
  readonly offset: number;
  readonly file: string;
}

/**
 * The parts of an image with their offsets, as ESP-IDF wrote them for esptool. Throws SdkError if
 * there are none.
 */
export function partsOf(image: Image): Part[] {
  const lines = readFileSync(join(image.folder, "flash_args"), "utf8").split("\n");
  const parts = lines.flatMap((line) => {
    const [, offset, file] = /^(0x[0-9a-f]+) (\S+)$/.exec(line.trim()) ?? [];
    return offset === undefined || file === undefined
      ? []
      : [{ offset: Number(offset), file: join(image.folder, file) }];
  });
  if (parts.length === 0) throw new SdkError(`${join(image.folder, "flash_args")} names no parts`);
  return parts;
}

/**
 * Writes the program into `file`, the flash of a device, and leaves the rest as it is: what the
 * device stored stays. A file that does not exist is made, erased, of `megabytes`.
 */
export function writeFlash(image: Image, file: string, megabytes: number): void {
  if (!existsSync(file)) writeFileSync(file, Buffer.alloc(megabytes * 1024 * 1024, 0xff));
  const descriptor = openSync(file, "r+");
  try {
    for (const { offset, file: part } of partsOf(image)) {
      const bytes = readFileSync(part);
      writeSync(descriptor, bytes, 0, bytes.length, offset);
    }
  } finally {
    closeSync(descriptor);
  }
}
