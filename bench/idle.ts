// The memory of an agent in the simulator: what the instruments show of a build that has one, minus the same build without.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../test/architecture/tree.js";
import { buildProgram } from "../tools/moddable/build.js";
import { findSdk } from "../tools/moddable/sdk.js";
import { SimulatedDevice, simulatedImage } from "../tools/moddable/simulator/device.js";
import { openDisplay } from "../tools/moddable/simulator/display.js";
import { Operator } from "../tools/operator/operator.js";
import { type Platform, startPlatform } from "../tools/platform/server.js";
import { PROJECT } from "../tools/project.js";
import { TENANT } from "../tools/tour/hints.js";

/** Bytes of a slot on a board; the simulator's are larger. */
export const SLOT = 16;
const SLOT_IN_SIMULATOR = 32;
const PATIENCE_MS = 60_000;
/** From then on an idle agent keeps what it keeps. */
const SETTLE_MS = 4000;
const LOOKS = 4;
const DEVICE = "idle";

type Connections = 1 | 2 | 3;

export class Idle {
  readonly platform: Platform;
  /** Slots in use, by sample of the instruments. */
  readonly looks: number[] = [];
  /** Of the firmware's update, and `online`. */
  readonly events: string[] = [];
  readonly #device: SimulatedDevice;
  readonly #ends: (() => unknown)[];

  private constructor(platform: Platform, device: (idle: Idle) => SimulatedDevice, ends: (() => unknown)[]) {
    this.platform = platform;
    this.#ends = ends;
    this.#device = device(this);
  }

  /** Starts it; without `connections` there is no agent. */
  static async start(program: string, connections?: Connections): Promise<Idle> {
    const platform = await startPlatform({ port: 0 });
    const stateDir = mkdtempSync(join(tmpdir(), "mote-idle-"));
    const display = await openDisplay(true);
    const ends: (() => unknown)[] = [
      () => platform.close(),
      () => display.close(),
      () => rmSync(stateDir, { recursive: true, force: true }),
    ];
    const device = (idle: Idle): SimulatedDevice =>
      new SimulatedDevice(
        {
          ...{
            sdk: findSdk(),
            program,
            display: display.name,
            stateDir,
            ca: undefined,
            intervalMs: connections ? 1 : 0,
          },
          agent: {
            baseUrl: platform.url,
            provisioning: { ...platform.profile, deviceName: DEVICE },
            connections: connections ?? 1,
          },
          line: () => {},
          event: ({ event, state }) => void idle.events.push(state === undefined ? event : `${state}`),
          instruments: (values) => void idle.looks.push((values.get("Slot used") ?? 0) / SLOT_IN_SIMULATOR),
        },
        simulatedImage("sample", "1.0.0", 5000),
      );
    const idle = new Idle(platform, device, ends);
    void idle.#device.start();
    if (connections) await idle.until("it is online", () => idle.events.includes("online"));
    return idle;
  }

  async until(what: string, seen: () => boolean): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while (!seen()) {
      if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
      await sleep(50);
    }
  }

  /** The least of several looks: a request that happens to be under way is no idle agent. */
  async atRest(): Promise<number> {
    await sleep(SETTLE_MS);
    this.looks.length = 0;
    await this.until("it was looked at", () => this.looks.length >= LOOKS);
    return Math.min(...this.looks);
  }

  /** The most that is in use while so many bytes of firmware come. */
  async download(bytes: number): Promise<number> {
    const operator = new Operator({ url: this.platform.url });
    await operator.login(TENANT.username, TENANT.password);
    const device = await operator.devices.byName(DEVICE);
    if (!device?.deviceProfileId) throw new Error("there is no device");
    const entry = { title: "sample", version: "2.0.0", deviceProfileId: device.deviceProfileId.id };
    const made = await operator.ota.create(entry);
    await operator.ota.upload(made.id.id, simulatedImage("sample", "2.0.0", bytes), {
      fileName: "sample.bin",
    });
    await operator.ota.assign(device.id.id, made.id.id);
    await this.until("it downloads", () => this.events.includes("DOWNLOADING"));
    this.looks.length = 0;
    await this.until("it was downloaded", () => this.events.includes("DOWNLOADED"));
    return Math.max(...this.looks);
  }

  async end(): Promise<void> {
    await this.#device.cut();
    for (const end of this.#ends) await end();
  }
}

export const idleProgram = (): Promise<string> =>
  buildProgram(findSdk(), join(PROJECT, "bench/idle"), join(root, "dist", "simulator"));
