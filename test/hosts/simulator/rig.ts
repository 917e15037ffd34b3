// A test in the Moddable simulator: skipped unless `node scripts/campaign.mjs simulator` asks for
// it and the SDK is there.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { buildProgram } from "../../../tools/moddable/build.js";
import { findSimulator, type Sdk } from "../../../tools/moddable/sdk.js";
import { type Display, openDisplay } from "../../../tools/moddable/simulator/display.js";
import { SimulatorRun } from "../../../tools/moddable/simulator/simulator.js";
import { PROJECT } from "../../../tools/project.js";
import { prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { root } from "../../architecture/tree.js";
import { given } from "../../arguments.js";
import { pattern } from "../port/check.js";
import { Listeners } from "../port/node-peers.js";
import { CERT, KEY } from "../port/tls-fixture.js";
import { bundleForXs } from "./bundle.js";
import { GuestLine } from "./guest-line.js";

const OUT = join(root, "dist", "simulator");

function unavailable(): string | undefined {
  if (!given("simulator")) return "node scripts/campaign.mjs simulator";
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
export async function programOf(folder: string, sdk: Sdk = findSimulator()): Promise<string> {
  return buildProgram(sdk, join(PROJECT, folder), OUT);
}

/** The program of test/hosts/simulator/guest, bundled for XS. */
export async function guestProgram(): Promise<string> {
  await bundleForXs("test/hosts/simulator/guest/main.ts", "dist/test/hosts/simulator/guest-main.js");
  return programOf("test/hosts/simulator/guest");
}

/** A run of the guest, with its files in a directory of its own. */
export class Guest {
  readonly listeners: Listeners;
  readonly lines: string[] = [];
  readonly #stateDir = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  readonly #line: GuestLine;
  #run: SimulatorRun | undefined;

  constructor(secure: boolean) {
    // The SDK's TLS refuses a certificate that comes alone.
    const here = { name: "127.0.0.1", secureName: "localhost", cert: CERT + CERT, key: KEY };
    this.listeners = new Listeners(secure, here);
    this.#line = new GuestLine(this.listeners);
    this.#line.onStopped = () => this.#restart();
  }

  async start(program: string, authorities: readonly string[]): Promise<void> {
    const setup = { control: await this.#line.listen(), authorities };
    this.#fresh();
    writeFileSync(join(this.#stateDir, "guest.json"), JSON.stringify(setup));
    const connected = this.#line.connected();
    this.#run = await SimulatorRun.start({
      sdk: findSimulator(),
      program,
      directory: this.#stateDir,
      display: await screen(),
      line: (line) => void this.lines.push(line),
    });
    void this.#run.ended.then((end) => this.#line.lost(`the simulator ended: ${JSON.stringify(end)}`));
    const ended = this.#run.ended.then((end) => {
      throw new Error(`the simulator ended: ${JSON.stringify(end)} ${this.lines.slice(-5).join("\n")}`);
    });
    await Promise.race([connected, ended]);
  }

  call(what: string, ...given: unknown[]): Promise<unknown> {
    return this.#line.call(what, ...given);
  }

  /** Files as new: an image that runs and is confirmed, and nothing else. */
  async fresh(): Promise<void> {
    this.#wipe = true;
    await this.call("restart");
  }

  async close(): Promise<void> {
    await this.#run?.kill();
    await this.listeners.close();
    this.#line.close();
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
    this.#line.restarted();
  }
}
