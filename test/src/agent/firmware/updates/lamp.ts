// A lamp on the local platform: the whole agent, on in-memory sockets, on a machine with two
// firmware slots and a boot loader. All that is asserted of an update is what its operator sees.

import { Recovery } from "../../../../../src/board-module.js";
import { Agent, type AgentOptions, type FirmwareOptions } from "../../../../../src/index.js";
import type { Host } from "../../../../../src/port.js";
import type { Device } from "../../../../../tools/platform/core/devices.js";
import type { OtaPackage } from "../../../../../tools/platform/core/ota/packages.js";
import { FakePlatform } from "../../../../fakes/platform.js";
import { imageOf, Machine } from "../machine.js";

export type Connections = 1 | 2 | 3;

export interface LampOptions {
  connections?: Connections;
  firmware?: Partial<FirmwareOptions>;
  agent?: Partial<AgentOptions>;
  slotBytes?: number;
}

const HOUR = 3_600_000;
const SETTLE_MS = 20;
const TOKEN = "lamp-token-0001";
/** The platform's own words, before the device has said anything. */
const SERVER_STATES = ["QUEUED", "INITIATED"];

export class Lamp {
  readonly machine: Machine;
  readonly platform: FakePlatform;
  readonly device: Device;
  readonly options: LampOptions;
  agent!: Agent;
  /** The version that was started last, and each that was, in order. */
  version = "";
  readonly booted: string[] = [];
  /** Every image that was ever made, by the version it begins with. */
  readonly images = new Map<string, Uint8Array>();
  /** Whether new connections reach the platform. */
  reachable = true;
  /** The host that a version gets. */
  hostOf: (host: Host, version: string) => Host = (host) => host;
  /** The last start was without the application. */
  recovering = false;
  #crash: string | false = false;
  /** The application: called at each start that is not in recovery mode, before the agent talks. */
  onStart: ((version: string) => void) | undefined;

  constructor(options: LampOptions = {}) {
    this.options = options;
    const first = this.image("1.0.0", 9000);
    this.machine = new Machine(first, options.slotBytes ?? 16 * 4096);
    this.platform = new FakePlatform(this.machine.clock, this.machine.net);
    this.device = this.platform.create("lamp-1", TOKEN);
    const { net } = this.machine;
    const serve = net.onConnect;
    net.onConnect = (peer) => {
      if (this.reachable) return serve?.(peer);
      peer.reset("refused");
      return false;
    };
  }

  image(version: string, size: number): Uint8Array {
    const image = imageOf(version, size);
    this.images.set(version, image);
    return image;
  }

  /** A package on the platform, with its file. */
  package(version: string, bytes: Uint8Array, more: { title?: string; algorithm?: "MD5" } = {}): OtaPackage {
    const { packages } = this.platform.core;
    const { profileId } = this.device;
    const fields = { type: "FIRMWARE", tag: undefined, url: undefined, profileId } as const;
    const made = packages.create({ ...fields, title: more.title ?? "lamp", version });
    const file = { fileName: "lamp.bin", contentType: "application/octet-stream", checksum: undefined };
    packages.upload(made, { ...file, bytes, algorithm: more.algorithm ?? "SHA256" });
    return made;
  }

  assign(target: OtaPackage | undefined): void {
    const { name, profileId } = this.device;
    this.platform.core.updateDevice(this.device, { name, profileId, firmwareId: target?.id });
  }

  /** A version as an operator brings it out: made, uploaded and assigned. */
  release(version: string, size: number): Uint8Array {
    const image = this.image(version, size);
    this.assign(this.package(version, image));
    return image;
  }

  /** The states that the device reported, oldest first, each once in a row. */
  get states(): string[] {
    const states = this.platform.points(this.device, "fw_state").map(({ value }) => String(value));
    return states.filter((state, i) => !SERVER_STATES.includes(state) && state !== states[i - 1]);
  }

  /** The last value of a key, as the platform has it. */
  latest(key: string): unknown {
    return this.platform.latest(this.device, key);
  }

  /** It reported that the update it was given is over, and good. */
  get updated(): boolean {
    return this.latest("fw_state") === "UPDATED";
  }

  /** What the operator sees: state, reason, and which version says so. */
  get shown(): { state: unknown; error: unknown; running: unknown } {
    return {
      state: this.states.at(-1),
      error: this.latest("fw_error"),
      running: this.latest("current_fw_version"),
    };
  }

  /** Requests for the image, each with its query. */
  get fetches(): string[] {
    return this.platform.seen.filter(({ path }) => path.includes("/firmware?")).map(({ path }) => path);
  }

  /**
   * Starts what the boot loader finds. An image that is not, byte for byte, one that was made is a
   * brick.
   */
  start(): void {
    const interrupted = this.#crash === false && !this.machine.asked;
    const { host: machine, image } = this.machine.start();
    const host = { ...machine, lastRun: { reset: "any", crash: this.#crash, interrupted } };
    this.version = new TextDecoder().decode(image.subarray(0, image.indexOf(10)));
    this.booted.push(this.version);
    const whole = this.images.get(this.version);
    if (!whole || Buffer.compare(whole, image) !== 0)
      throw new Error(`a broken image was started: ${image.length} bytes`);
    this.agent = new Agent(this.hostOf(host, this.version), {
      baseUrl: "https://platform.test",
      token: TOKEN,
      connections: this.options.connections ?? 2,
      ...this.options.agent,
      firmware: { title: "lamp", version: this.version, chunkBytes: 16_384, ...this.options.firmware },
    });
    const recovery = new Recovery(host, this.version);
    this.#crash = false;
    this.recovering = recovery.active;
    if (!recovery.active) this.onStart?.(this.version);
    if (!this.machine.powered) return;
    recovery.attach(this.agent);
    this.begin();
  }

  /** Has the agent talk. */
  protected begin(): void {
    this.agent.start();
  }

  /** The application ends the run by a mistake. */
  crash(): void {
    this.#crash = "it divided by zero";
    this.machine.off();
  }

  /**
   * Runs until `done()`, starting again after each restart, crash and power loss. Rejects after
   * `ms`.
   */
  async until(done: () => boolean, ms = 6 * HOUR): Promise<void> {
    const { clock } = this.machine;
    const end = clock.now() + ms;
    while (clock.now() < end) {
      if (!this.machine.powered) this.start();
      await clock.runUntil(() => done() || !this.machine.powered || clock.now() >= end, ms + 1);
      if (done()) return;
      if (!this.machine.powered) await clock.advance(SETTLE_MS);
    }
    throw new Error(`not within ${ms} ms: ${JSON.stringify(this.shown)} ${this.states.join(" ")}`);
  }

  async untilState(...states: string[]): Promise<void> {
    await this.until(() => states.includes(String(this.shown.state)));
  }

  /** Runs for `ms`, starting again after each restart. */
  async pass(ms: number): Promise<void> {
    let over = false;
    this.machine.clock.timer(ms, () => {
      over = true;
    });
    await this.until(() => over, ms + 1000);
  }
}
