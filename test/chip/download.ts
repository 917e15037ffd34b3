// The emulated chip in its download mode: its ROM waits for esptool, as a board does whose BOOT was
// held.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Image } from "../../tools/moddable/esp32/esp32.js";
import { partsOf } from "../../tools/moddable/esp32/flash-image.js";
import { writeWebPage } from "../../tools/moddable/flash/web-page.js";
import { PROJECT } from "../../tools/project.js";
import { freePort } from "../fakes/listen.js";
import { CHIP } from "./chip.js";
import { findEmulator } from "./emulator.js";

const FLASH_BYTES = 4 * 1024 * 1024;
const CLI = join(PROJECT, "dist", "tools", "cli", "cli.js");

export const eraseFlash = (file: string): void => writeFileSync(file, Buffer.alloc(FLASH_BYTES, 0xff));

/** As `mote flash --web` writes it. */
export function writePage(image: Image, firmware: { name: string; version: string }, folder: string): void {
  writeWebPage([{ ...firmware, chip: image.chip, target: image.chip, parts: partsOf(image) }], folder);
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
  readonly seconds: number;
}

/**
 * `mote` as its user calls it, with the port of a board of this flash at the end; esptool is the
 * one that is installed.
 */
export async function moteAtBoard(file: string, words: readonly string[]): Promise<Ran> {
  const port = await freePort();
  const machine = [
    ...["-machine", CHIP.name, "-nographic", "-monitor", "none", "-nic", "none"],
    ...["-serial", `tcp:127.0.0.1:${port},server=on,wait=off`],
    ...["-drive", `file=${file},if=mtd,format=raw`],
    ...CHIP.downloadMode,
  ];
  const board = spawn(findEmulator(CHIP.name), machine, { stdio: "ignore" });
  const over = once(board, "close");
  try {
    await listening(port);
    return await mote([...words, "--port", `socket://127.0.0.1:${port}`]);
  } finally {
    board.kill("SIGTERM");
    await over;
  }
}

export async function mote(words: readonly string[]): Promise<Ran> {
  const began = Date.now();
  const child = spawn(process.execPath, [CLI, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  return { code, out, said, seconds: Math.round((Date.now() - began) / 1000) };
}

/**
 * The emulator opens its port late on a busy machine; a look at it would take the one connection it
 * has.
 */
async function listening(port: number): Promise<void> {
  for (let n = 0; n < 100; n++) {
    const server = createServer();
    const taken = await new Promise((done) => {
      server.once("error", () => done(true)).listen(port, "127.0.0.1", () => server.close(() => done(false)));
    });
    if (taken) return;
    await new Promise((go) => setTimeout(go, 100));
  }
  throw new Error("the emulator opens no port");
}
