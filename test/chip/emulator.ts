// An emulated board: the installed QEMU of Espressif, a flash file, and serial output as text.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { onPath } from "../../tools/moddable/program.js";
import { SdkError } from "../../tools/moddable/sdk.js";

/** Programs and machines by chip. */
const MACHINES: Readonly<Record<string, readonly [program: string, tool: string, machine: string]>> = {
  esp32: ["qemu-system-xtensa", "qemu-xtensa", "esp32"],
  esp32s3: ["qemu-system-xtensa", "qemu-xtensa", "esp32s3"],
  esp32c3: ["qemu-system-riscv32", "qemu-riscv32", "esp32c3"],
};

/** This machine, as an emulated board sees it. */
export const HOST_ADDRESS = "10.0.2.2";

/** The chip's emulator, on the path or in ESP-IDF's tools. Throws SdkError with advice. */
export function findEmulator(chip: string, env: NodeJS.ProcessEnv = process.env): string {
  const known = MACHINES[chip];
  if (!known) throw new SdkError(`cannot emulate ${chip} (supported: ${Object.keys(MACHINES).join(", ")})`);
  const [program, tool] = known;
  if (onPath(program, env)) return program;
  const tools = join(env.IDF_TOOLS_PATH ?? join(homedir(), ".espressif"), "tools", tool);
  const versions = existsSync(tools) ? readdirSync(tools).sort().reverse() : [];
  const installed = versions.map((version) => join(tools, version, "qemu", "bin", program)).find(existsSync);
  if (installed) return installed;
  throw new SdkError(
    `the emulator is missing: ${program} is not on the path. Install it with ESP-IDF's tool:\n` +
      `  python $IDF_PATH/tools/idf_tools.py install ${tool}\n  . $IDF_PATH/export.sh`,
  );
}

/** The emulator's name for the board's network: for more words about it. */
export const NETWORK = "network";

/** An emulator that does not end within this time hangs. */
const CUT_MS = 5000;

export interface Emulation {
  readonly chip: string;
  /** The file of its flash, of 4, 8 or 16 MB. It changes as the board writes. */
  readonly flash: string;
  /** A line of the serial console. */
  line(text: string): void;
  /** The same as it comes, byte by byte. */
  bytes?(bytes: Uint8Array): void;
  /** More words for the emulator. */
  readonly more?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A pipe of 64 KiB. The emulator writes its console byte by byte and drops what does not go in; the
 * pipe that Node makes for a process is full after some 280 writes. Undefined where the system has
 * none.
 */
function makePipe(): { into: number; out: Readable } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "mote-console-"));
  const path = join(folder, "pipe");
  try {
    execFileSync("mkfifo", [path], { stdio: "ignore" });
    const out = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      writable: false,
    });
    return { out, into: openSync(path, constants.O_WRONLY) };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A board with its power on. */
export class EmulatedBoard {
  /** Resolves once the power is off: by `cut`, or because the emulator ended, with what it said. */
  readonly off: Promise<string>;
  /** Exit status or signal of a failed emulator; undefined otherwise. */
  failure: string | undefined;
  readonly #process: ChildProcess;

  /** Throws SdkError if there is no emulator. */
  constructor({ chip, flash, line, bytes, more = [], env = process.env }: Emulation) {
    const program = findEmulator(chip, env);
    const machine = MACHINES[chip]![2];
    const words = [
      ...["-machine", machine, "-nographic", "-monitor", "none", "-serial", "stdio"],
      ...["-drive", `file=${flash},if=mtd,format=raw`],
      ...["-nic", `user,id=${NETWORK},model=open_eth`],
      ...more,
    ];
    const console = makePipe();
    this.#process = spawn(program, words, { stdio: ["pipe", console?.into ?? "pipe", "pipe"], env });
    if (console) closeSync(console.into);
    let rest = "";
    let said = "";
    const out = console?.out ?? this.#process.stdout!;
    const isRead = new Promise((resolve) => out.on("close", resolve));
    out.setEncoding("latin1").on("data", (text: string) => {
      bytes?.(Buffer.from(text, "latin1"));
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const one of lines) line(one);
    });
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2000);
    });
    // A board whose owner ended by an exception would run on, and keep a core busy.
    const end = (): boolean => this.#process.kill();
    process.once("exit", end);
    this.off = new Promise((resolve) => {
      this.#process.on("error", (error) => {
        this.failure = error.message;
        resolve(error.message);
      });
      this.#process.on("close", async (code, signal) => {
        if (code !== 0 && !this.#process.killed) this.failure = `it ended with ${signal ?? code}`;
        process.off("exit", end);
        await isRead;
        if (rest !== "") line(rest);
        resolve(said.trim());
      });
    });
  }

  /** Types on the serial line. */
  type(text: string | Uint8Array): void {
    this.#process.stdin!.write(text);
  }

  /**
   * Takes the power away, at once. The emulator writes its file later than the chip its flash: it
   * may bring to an end what the chip had finished. (Killed, it takes back bytes that the program
   * believed written, which no flash does.)
   */
  async cut(): Promise<void> {
    this.#process.kill("SIGTERM");
    const late = setTimeout(() => this.#process.kill("SIGKILL"), CUT_MS);
    await this.off;
    clearTimeout(late);
  }
}
