// The flash of a board as one file, for the emulator and for updates that keep stored data.
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SdkError } from "../sdk.js";
import type { Image } from "./esp32.js";

export interface Part {
  readonly offset: number;
  readonly file: string;
}

/** Parts of an image with their offsets, from flash_args. Throws SdkError without any. */
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

/** Writes the program into a flash file and keeps the stored data; creates an erased one. */
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
