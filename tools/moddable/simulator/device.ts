// A device in the simulator: files in a directory, boot loader, and a new start after each restart.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { replaceFile, UNFENCED } from "../../../hosts/node/files.js";
import type { SimulatorSettings } from "../../../hosts/simulator/settings.js";
import type { AgentOptions, LastRun } from "../../../src/index.js";
import { forgetStart, prepareStart, type Start } from "../../run/boot-loader.js";
import { flash } from "../../run/slot-images.js";
import type { Sdk } from "../sdk.js";
import { type End, SimulatorRun } from "./simulator.js";

export interface DeviceOptions {
  sdk: Sdk;
  program: string;
  display: string;
  /** Absolute. */
  stateDir: string;
  agent: AgentOptions;
  /** Between two samples of the application, in milliseconds. */
  intervalMs: number;
  /** PEM. */
  ca?: string | undefined;
  /** Lines that the program logs. */
  line(line: string): void;
  /** Events of the agent and of the device: `started`, `crash`, `firmware.fallback`. */
  event(event: { event: string } & Record<string, unknown>): void;
  instruments?: (values: ReadonlyMap<string, number>) => void;
  /** From a crash to the next start, in milliseconds. Default 1,000. */
  crashMs?: number;
}

/** Nothing ran before: it was switched on. */
const POWER: LastRun = { reset: "start", crash: false, interrupted: true, powered: true };
const CRASH_MS = 1000;
const STOP_MS = 10_000;

/** An image for the simulator: a description in the first line, then filler. */
export function simulatedImage(title: string, version: string, bytes: number): Buffer {
  const head = Buffer.from(`${JSON.stringify({ simulator: 1, title, version })}\n`);
  const body = Buffer.alloc(Math.max(0, bytes - head.length));
  for (let i = 0; i < body.length; i++) body[i] = (i * 131 + (i >> 8) * 17 + version.length) & 0xff;
  return Buffer.concat([head, body]);
}

/** Undefined for what is no image of this kind. */
function readImage(path: string): { title: string; version: string } | undefined {
  try {
    const [head = ""] = readFileSync(path, "latin1").split("\n", 1);
    const { simulator, title, version } = JSON.parse(head);
    return simulator === 1 && typeof title === "string" && typeof version === "string"
      ? { title, version }
      : undefined;
  } catch {
    return undefined;
  }
}

export class SimulatedDevice {
  readonly #options: DeviceOptions;
  #run: SimulatorRun | undefined;
  #loop: Promise<End> | undefined;
  #control: Server | undefined;
  #line: Socket | undefined;
  #stopped = false;
  /** How the run before ended: the agent counts crashes, and starts by power that did not last. */
  #lastRun = POWER;

  constructor(options: DeviceOptions, image: Uint8Array) {
    this.#options = options;
    flash(options.stateDir, image, UNFENCED);
  }

  /** Starts the device, also after restarts and crashes, until `stop` or its exit. */
  start(timestamps: "device" | "platform" = "device"): Promise<End> {
    this.#stopped = false;
    if (!this.#loop) this.#lastRun = POWER;
    this.#loop ??= this.#work(timestamps).finally(() => {
      this.#loop = undefined;
    });
    return this.#loop;
  }

  /** In good order: what waits is sent first. After ten seconds, at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const late = setTimeout(() => void this.#run?.kill(), STOP_MS);
    if (this.#line) this.#line.write("end");
    else await this.#run?.kill();
    await this.#loop;
    clearTimeout(late);
    // A pending image gets its try at the next start.
    forgetStart(this.#options.stateDir, UNFENCED);
  }

  /** As a power loss does. */
  async cut(): Promise<void> {
    this.#stopped = true;
    await this.#run?.kill();
    await this.#loop;
  }

  async #work(timestamps: "device" | "platform"): Promise<End> {
    const port = await this.#listen();
    try {
      for (;;) {
        const end = await this.#once(timestamps, port);
        if (this.#stopped || end.kind === "exit" || end.kind === "stopped") return end;
        const crash = end.kind === "crash" && end.reason;
        this.#lastRun = { reset: crash === false ? "restart" : "crash", crash };
        if (end.kind === "crash") {
          this.#options.event({ event: "crash", reason: end.reason });
          await new Promise((resolve) => setTimeout(resolve, this.#options.crashMs ?? CRASH_MS));
        }
      }
    } finally {
      this.#control?.close();
      this.#line?.destroy();
      this.#line = undefined;
    }
  }

  async #once(timestamps: "device" | "platform", port: number): Promise<End> {
    const { stateDir, event, line } = this.#options;
    const start = prepareStart(stateDir, UNFENCED, (slot, reason) =>
      event({ event: "firmware.fallback", slot, reason }),
    );
    const image = start && readImage(start.path);
    if (!start || !image) return { kind: "crash", reason: "no slot holds an image for the simulator" };
    this.#configure({ ...image, ...start }, timestamps, port);
    event({ event: "started", ...image, slot: start.slot, state: start.state });
    const { sdk, program, display, instruments } = this.#options;
    const run = await SimulatorRun.start({
      ...{ sdk, program, display, directory: stateDir, instruments },
      line: (text) => readLine(text, event, line),
    });
    this.#run = run;
    if (this.#stopped) await run.kill();
    const end = await run.ended;
    this.#run = undefined;
    this.#line = undefined;
    return end;
  }

  #configure(
    { title, version, sha256 }: Start & { title: string; version: string },
    timestamps: "device" | "platform",
    control: number,
  ): void {
    const { stateDir, agent, intervalMs, ca } = this.#options;
    const firmware = { ...agent.firmware, title, version };
    const telemetry = { ...agent.telemetry, timestamps };
    const authorities = ca === undefined ? [] : derOf(ca);
    const settings: SimulatorSettings = {
      agent: { ...agent, firmware, telemetry },
      ...{ intervalMs, authorities, lastRun: this.#lastRun, image: sha256, control },
    };
    replaceFile(join(stateDir, "settings.json"), Buffer.from(JSON.stringify(settings)), UNFENCED);
  }

  #listen(): Promise<number> {
    return new Promise((resolve) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        this.#line = socket;
        if (this.#stopped) socket.write("end");
      });
      this.#control = server;
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
    });
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, DER in base64. */
export function derOf(pem: string): string[] {
  return (pem.match(PEM) ?? []).map((one) => new X509Certificate(one).raw.toString("base64"));
}

const MARK = "@event ";

/** A message may not begin a line: the SDK's sockets print some words without a line end. */
export function readLine(
  text: string,
  event: (what: { event: string }) => void,
  line: (text: string) => void,
): void {
  const at = text.indexOf(MARK);
  const parsed = at < 0 ? undefined : parsedEvent(text.slice(at + MARK.length));
  if (parsed === undefined || at > 0) line(parsed === undefined ? text : text.slice(0, at));
  if (parsed !== undefined) event(parsed);
}

function parsedEvent(json: string): { event: string } | undefined {
  try {
    const value = JSON.parse(json);
    return typeof value?.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
