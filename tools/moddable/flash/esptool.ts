// Runs Espressif's esptool, and reads its output.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { onPath, tryRun } from "../program.js";
import { SdkError } from "../sdk.js";

/** Its commands have the names that are used here since then. */
const LEAST = 5;
const INSTALL = "this installs it: python3 -m pip install --upgrade esptool";

export type Command = readonly [program: string, ...words: string[]];

export interface Esptool {
  readonly command: Command;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
}

/** As `esptool flash-id` says it. */
export interface FoundBoard {
  readonly port: string;
  /** As ESP-IDF names it: esp32c3. */
  readonly chip: string;
  readonly mac: string;
  /** Undefined: esptool does not know this flash. */
  readonly flashBytes: number | undefined;
}

/** Finds esptool on the path or in Python. Throws SdkError without version 5 or later. */
export async function findEsptool(env: NodeJS.ProcessEnv = process.env): Promise<Esptool> {
  const old: string[] = [];
  for (const command of candidates(env)) {
    const { code, text } = await runQuietly(command, ["version"], env);
    const [, version, major] = /v?((\d+)\.[\w.]+)/.exec(text) ?? [];
    if (code !== 0 || version === undefined) continue;
    if (Number(major) >= LEAST) return { command, version, env };
    old.push(version);
  }
  throw new SdkError(
    old.length > 0
      ? `esptool ${old[0]} is too old: version ${LEAST} or later is required; ${INSTALL}`
      : `esptool is missing: found neither on the path nor as a Python module; ${INSTALL}`,
  );
}

function candidates(env: NodeJS.ProcessEnv): Command[] {
  const { IDF_PYTHON_ENV_PATH: idf } = env;
  return [
    ...(onPath("esptool", env) ? [["esptool"] as const] : []),
    ...(idf ? [[join(idf, "bin", "python"), "-m", "esptool"] as const] : []),
    ...["python3", "python"]
      .filter((name) => onPath(name, env))
      .map((name) => [name, "-m", "esptool"] as const),
  ];
}

/**
 * Identifies the board; it stays in download mode. Without a port, esptool finds one. Throws
 * SdkError.
 */
export async function identify({ command, env }: Esptool, port: string | undefined): Promise<FoundBoard> {
  const words = [...(port === undefined ? [] : ["--port", port]), "--after", "no-reset", "flash-id"];
  const { code, text } = await runQuietly(command, words, env);
  const board = readIdentity(text);
  if (code !== 0 || board === undefined) throw failed(text, port === undefined && !USB_PORT.test(text));
  return board;
}

/** From what `flash-id` printed; undefined where it names no chip. */
export function readIdentity(text: string): FoundBoard | undefined {
  const [, family, port] = /^Connected to (ESP32[\w-]*) on (.+):$/m.exec(text) ?? [];
  if (family === undefined || port === undefined) return undefined;
  const [, mac = "unknown"] = /^MAC: +([0-9a-f:]{17,23})/m.exec(text) ?? [];
  const [, size, unit] = /^Detected flash size: (\d+)([KM])B/m.exec(text) ?? [];
  const flashBytes = size === undefined ? undefined : Number(size) * (unit === "M" ? 1 << 20 : 1 << 10);
  return { port, chip: family.toLowerCase().replaceAll("-", ""), mac, flashBytes };
}

/** Reads so much from `offset` on into `file`. Throws SdkError if it fails. */
export async function readFlash(
  { command, env }: Esptool,
  port: string,
  { offset, bytes, file }: { offset: number; bytes: number; file: string },
): Promise<void> {
  const words = ["--port", port, "--after", "no-reset", "read-flash", `${offset}`, `${bytes}`, file];
  const { code, text } = await runQuietly(command, words, env);
  if (code !== 0) throw failed(text);
}

/** Has the board leave its download mode, where its cable can do that. */
export async function restart({ command, env }: Esptool, port: string): Promise<void> {
  await runQuietly(command, ["--port", port, "--after", "hard-reset", "read-mac"], env);
}

export interface Writing {
  readonly port: string;
  readonly chip: string;
  readonly baud: number;
  readonly erase: boolean;
  readonly parts: readonly { readonly offset: number; readonly file: string }[];
}

/** Writes and verifies the parts, and starts the board. Resolves with the exit code. */
export function writeParts({ command, env }: Esptool, writing: Writing): Promise<number> {
  const [program, ...first] = command;
  const { port, chip, baud, erase, parts } = writing;
  const words = [
    ...[...first, "--chip", chip, "--port", port, "--baud", `${baud}`, "write-flash"],
    ...(erase ? ["--erase-all"] : []),
    ...parts.flatMap(({ offset, file }) => [`0x${offset.toString(16)}`, file]),
  ];
  const child = spawn(program, words, { env, stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new SdkError(`${program}: ${error.message}`)));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** A port that a board may have, unlike the computer's own /dev/ttyS0. */
const USB_PORT = /ttyUSB|ttyACM|\/cu\.|\bCOM\d/;

/** esptool's own last lines, which have the advice. */
function failed(text: string, isUnplugged = false): SdkError {
  const last = text.trim().split("\n").slice(-4).join("\n");
  const next = isUnplugged
    ? "No USB serial port was found: connect the board with a cable that carries data, or name its port: --port"
    : "If the board does not answer: hold BOOT, press RESET, release both, then try again";
  return new SdkError(`esptool could not use the board:\n${last}\n${next}`);
}

/** What it prints is read: neither colour nor columns of a terminal. */
const runQuietly = (command: Command, words: readonly string[], env: NodeJS.ProcessEnv) =>
  tryRun([...command, ...words], { ...env, NO_COLOR: "1", COLUMNS: "200", TERM: "dumb" });
