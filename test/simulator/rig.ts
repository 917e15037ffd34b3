// A test in the Moddable simulator: skipped unless `npm run test:simulator` asks for it and the SDK is there.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { build } from "esbuild";
import { flash } from "../../hosts/node/flash.js";
import { prepareStart } from "../../hosts/node/start-up.js";
import { buildProgram } from "../../hosts/sdk/build.js";
import { type Display, openDisplay } from "../../hosts/sdk/display.js";
import { findSdk, PROJECT, type Sdk } from "../../hosts/sdk/sdk.js";
import { SimulatorRun } from "../../hosts/sdk/simulator.js";
import { root } from "../house/tree.js";
import { pattern } from "../port/check.js";
import { Listeners } from "../port/node-peers.js";
import { Peers } from "../xs/peers.js";
import { FRAME, Frames, frame } from "./frames.js";

const OUT = join(root, "dist", "simulator");

function unavailable(): string | undefined {
  if (process.env.MOTE_SIMULATOR !== "1") return "npm run test:simulator";
  return process.env.MODDABLE ? undefined : "$MODDABLE is not set";
}

/** One after the other: a simulator draws, and time is measured. */
export function inSimulator(title: string, run: (t: ExecutionContext) => Promise<void>): void {
  const missing = unavailable();
  if (missing === undefined) test.serial(title, run);
  else test.skip(`${title} (${missing})`, run);
}

let display: Promise<Display> | undefined;
test.after.always(async () => (await display)?.close());

export async function screen(): Promise<string> {
  display ??= openDisplay(true);
  return (await display).name;
}

/** The program of a folder with a manifest.json, of this project or of a test. */
export async function programOf(folder: string, sdk: Sdk = findSdk()): Promise<string> {
  return buildProgram(sdk, join(PROJECT, folder), OUT);
}

/** The program of test/simulator/guest, bundled for XS. */
export async function guestProgram(): Promise<string> {
  await build({
    absWorkingDir: root,
    entryPoints: ["test/simulator/guest/main.ts"],
    outfile: join(root, "dist/test/simulator/guest-main.js"),
    bundle: true,
    format: "esm",
    packages: "external",
    platform: "neutral",
    target: "es2022",
    logLevel: "silent",
  });
  return programOf("test/simulator/guest");
}

/** A run of the guest, with its files in a directory of its own. */
export class Guest {
  readonly listeners: Listeners;
  readonly lines: string[] = [];
  readonly #stateDir = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #encoder = new TextEncoder();
  readonly #server = createServer((socket) => this.#serve(socket));
  #socket: Socket | undefined;
  #greeted: (() => void) | undefined;
  #peers: Peers;
  #run: SimulatorRun | undefined;
  #ids = 0;

  constructor(secure: boolean) {
    this.listeners = new Listeners(secure);
    this.#peers = new Peers(this.listeners, (what, id, bytes) => this.#say(FRAME.peer, id, what, bytes));
  }

  async start(program: string, authorities: readonly string[]): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const { port } = this.#server.address() as AddressInfo;
    this.#fresh();
    const setup = { control: port, authorities };
    writeFileSync(join(this.#stateDir, "guest.json"), JSON.stringify(setup));
    const greeted = new Promise<void>((resolve) => {
      this.#greeted = resolve;
    });
    this.#run = await SimulatorRun.start({
      sdk: findSdk(),
      program,
      directory: this.#stateDir,
      display: await screen(),
      line: (line) => void this.lines.push(line),
    });
    void this.#run.ended.then((end) => this.#lost(`the simulator ended: ${JSON.stringify(end)}`));
    const ended = this.#run.ended.then((end) => {
      throw new Error(`the simulator ended: ${JSON.stringify(end)} ${this.lines.slice(-5).join("\n")}`);
    });
    await Promise.race([greeted, ended]);
  }

  call(what: string, ...given: unknown[]): Promise<unknown> {
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#say(FRAME.call, id, what, this.#encoder.encode(JSON.stringify(given)));
    });
  }

  /** Files as new: an image that runs and is confirmed, and nothing else. */
  async fresh(): Promise<void> {
    this.#wipe = true;
    await this.call("restart");
  }

  async close(): Promise<void> {
    await this.#run?.kill();
    await this.listeners.close();
    this.#socket?.destroy();
    this.#server.close();
    rmSync(this.#stateDir, { recursive: true, force: true });
  }

  #wipe = false;

  #fresh(): void {
    for (const name of ["store", "slots", "run", "blocks.bin", "boot.json", "hardware-id"]) {
      rmSync(join(this.#stateDir, name), { recursive: true, force: true });
    }
    mkdirSync(this.#stateDir, { recursive: true });
    flash(this.#stateDir, pattern(5000, 11));
    prepareStart(this.#stateDir, () => {});
  }

  #restart(): void {
    if (this.#wipe) this.#fresh();
    else prepareStart(this.#stateDir, () => {});
    this.#wipe = false;
    this.#say(FRAME.peer, 0, "restarted");
  }

  #serve(socket: Socket): void {
    this.#socket = socket;
    const frames = new Frames(new TextDecoder());
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      for (const { op, id, a, text, bytes: rest } of frames.read(bytes)) {
        if (op === FRAME.answer) this.#answered(id, a === 1, new TextDecoder().decode(rest));
        else if (text === "restart") this.#restart();
        else this.#peers.asked(text, id, rest);
      }
    });
    this.#greeted?.();
  }

  #answered(id: number, good: boolean, text: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (good) call?.resolve(JSON.parse(text));
    else call?.reject(new Error(text));
  }

  #lost(why: string): void {
    for (const { reject } of this.#calls.values()) reject(new Error(why));
    this.#calls.clear();
  }

  #say(op: number, id: number, text: string, bytes?: Uint8Array): void {
    this.#socket?.write(frame(this.#encoder, op, id, 0, text, bytes));
  }
}
