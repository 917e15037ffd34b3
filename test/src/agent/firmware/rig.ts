// A device and a platform for the firmware tests, at the level of requests: what the agent asks for is answered fragment by fragment.
import { createHash } from "node:crypto";
import { Firmware, type FirmwareOptions, type Reports } from "../../../../src/agent/firmware/firmware.js";
import { Events } from "../../../../src/events.js";
import { bindingOf } from "../../../../src/http/binding.js";
import type { Outcome } from "../../../../src/http/outcome.js";
import type { Request } from "../../../../src/http/request.js";
import { ConnectionPool } from "../../../../src/platform/connection-pool.js";
import { Counters } from "../../../../src/platform/counters.js";
import { type Job, Loop } from "../../../../src/platform/loop.js";
import type { PlatformSession } from "../../../../src/platform/session.js";
import type { Host } from "../../../../src/port.js";
import type { Json } from "../../../../src/wire/text/json.js";
import { SecretRedactor } from "../../../../src/wire/text/redactor.js";
import { PowerLossError } from "../../../power-loss/power.js";
import { Machine } from "./machine.js";

export type Mode = 1 | 2 | 3;

const FRAGMENT = 1460;
const POWER_LOSS_SETTLE_MS = 20;

/** An image of `size` bytes that begins with its version. */
export function imageOf(version: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 8) * 13 + version.length) & 0xff;
  bytes.set(new TextEncoder().encode(`${version}\n`));
  return bytes;
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The platform: what is assigned, what is handed out, what was reported. */
export class Platform {
  shared: Record<string, Json> = {};
  /** By version. */
  readonly packages = new Map<string, Uint8Array>();
  readonly reports: { values: Record<string, unknown>; ts: number | undefined }[] = [];
  readonly requests: string[] = [];
  /** Bytes handed out. */
  fetched = 0;
  /** Answers with the token. */
  reachable = true;
  /** The connection breaks when so many bytes were handed out in all. */
  drops: number[] = [];
  /** An answer in place of the right one. */
  answer: ((path: string) => Outcome | undefined) | undefined;
  /** Answers state no length, as through a proxy that sends them in chunks. */
  hidesLength = false;
  /** Called for each report. */
  onReport: ((values: Record<string, unknown>) => void) | undefined;
  /** Called for each fragment that is about to be handed out. */
  onFragment: (() => void) | undefined;

  assign(version: string, image: Uint8Array, change: Record<string, Json | undefined> = {}): void {
    this.packages.set(version, image);
    const shared: Record<string, Json | undefined> = {
      fw_title: "lamp",
      fw_version: version,
      fw_size: image.length,
      fw_checksum_algorithm: "SHA256",
      fw_checksum: sha256(image),
      ...change,
    };
    this.shared = Object.fromEntries(
      Object.entries(shared).filter(([, value]) => value !== undefined),
    ) as Record<string, Json>;
  }

  get states(): string[] {
    const states = this.reports.map(({ values }) => values.fw_state).filter((state) => state !== undefined);
    return states.map(String).filter((state, i) => state !== states[i - 1]);
  }

  get last(): Record<string, unknown> {
    return this.reports.findLast(({ values }) => values.fw_state !== undefined)?.values ?? {};
  }
}

/** The device: runs the agent's firmware part on a machine, again after each restart. */
export class Device {
  readonly machine: Machine;
  readonly platform: Platform;
  readonly mode: Mode;
  readonly options: Partial<FirmwareOptions>;
  firmware!: Firmware;
  session!: FakeSession;
  version = "";
  secure = true;
  /** The image that was started last, and how often each version was. */
  readonly booted: string[] = [];
  readonly events: Record<string, unknown>[] = [];
  /** Whether the platform takes requests of a version. */
  accepted: (version: string) => boolean = () => true;
  /** Makes the application of a version crash ms after its start. */
  crashes: Record<string, number> = {};

  constructor(platform: Platform, mode: Mode, options: Partial<FirmwareOptions> = {}, slotSize = 16 * 4096) {
    this.platform = platform;
    this.mode = mode;
    this.options = options;
    this.machine = new Machine(imageOf("1.0.0", 9000), slotSize);
  }

  start(): void {
    const { host, image } = this.machine.start();
    this.version = new TextDecoder().decode(image.subarray(0, image.indexOf(10)));
    this.booted.push(this.version);
    const whole =
      this.version === "1.0.0" ? imageOf("1.0.0", 9000) : this.platform.packages.get(this.version);
    if (!whole || Buffer.compare(whole, image) !== 0)
      throw new Error(`a broken image was started: ${image.length} bytes`);
    const events = new Events(host);
    events.on("firmware", (detail) => this.events.push(detail));
    this.session = new FakeSession(
      host,
      this.mode,
      this.platform,
      new Counters(host, events, new SecretRedactor(host)),
    );
    this.session.target.secure = this.secure;
    const session = this.session as unknown as PlatformSession;
    const options = { title: "lamp", version: this.version, chunkBytes: 16_384, ...this.options };
    const reports: Reports = {
      record: (values, { ts } = {}) => {
        this.platform.reports.push({ values, ts });
        this.platform.onReport?.(values);
      },
      flush: () => Promise.resolve(true),
    };
    const reader = {
      follow: () => {},
      readSoon: () =>
        void host.clock.timer(50, () => this.platform.reachable && firmware.offer(this.platform.shared)),
    };
    const firmware = new Firmware(session, events, options, reports, reader);
    this.firmware = firmware;
    this.session.onError = (error) => {
      if (error instanceof PowerLossError) return;
      this.machine.off();
      this.failed = error;
    };
    this.session.firmware?.start();
    const { version } = this;
    const reach = () => {
      this.session.online = this.platform.reachable;
      if (this.platform.reachable && this.accepted(version)) firmware.platformReached();
      host.clock.timer(1000, reach);
    };
    host.clock.timer(100, reach);
    const crash = this.crashes[this.version];
    if (crash !== undefined) host.clock.timer(crash, () => this.machine.off());
  }

  failed: unknown;

  /** Runs until `done()`, starting again after each restart, crash and power loss. Rejects after `ms`. */
  async until(done: () => boolean, ms = 6 * 3_600_000): Promise<void> {
    const { clock } = this.machine;
    const end = clock.now() + ms;
    while (clock.now() < end) {
      if (!this.machine.powered) this.start();
      const over = () => done() || !this.machine.powered;
      await clock.runUntil(over, Math.max(1, end - clock.now()));
      if (this.failed) throw this.failed;
      if (done()) return;
      await clock.advance(POWER_LOSS_SETTLE_MS);
    }
    throw new Error(
      `not reached in ${ms} ms: ${this.platform.states.join(" ")} ${this.platform.last.fw_error}`,
    );
  }

  /** Runs for `ms` at least, and restarts as `until`. */
  async pass(ms: number): Promise<void> {
    let over = false;
    this.machine.clock.timer(ms, () => {
      over = true;
    });
    await this.until(() => over, ms + 1000);
  }
}

class FakeSession {
  readonly host: Host;
  readonly counters: Counters;
  readonly target = {
    secure: true,
    name: "platform.example.com",
    port: 443,
    prefix: "",
    authority: "platform.example.com",
  };
  running = true;
  online: boolean | undefined;
  firmware: Loop | undefined;
  onError: ((error: unknown) => void) | undefined;
  readonly #platform: Platform;

  constructor(host: Host, mode: Mode, platform: Platform, counters: Counters) {
    this.host = host;
    this.counters = counters;
    this.connections = new ConnectionPool(host, this.target, mode, bindingOf(this.target, undefined));
    this.#platform = platform;
  }

  get answers(): boolean {
    return this.online === true;
  }

  /** A mistake ends it, in place of another beginning. */
  loop(name: string, job: Job): Loop {
    const turn = async () => {
      try {
        return await job.turn();
      } catch (error) {
        this.running = false;
        this.onError?.(error);
        return undefined;
      }
    };
    this.firmware = new Loop(this as unknown as PlatformSession, name, { begin: () => job.begin(), turn });
    return this.firmware;
  }

  ready(until: number): Promise<void> {
    const { clock } = this.host;
    return new Promise((resolve) => clock.timer(Math.max(1, until - clock.now()), resolve));
  }

  send(_purpose: unknown, request: Request): Promise<Outcome> {
    return this.#send(request);
  }

  dispatch(_purpose: unknown, request: Request, _prefix: unknown, done: (outcome: Outcome) => void): void {
    this.#send(request).then(done, (error) => {
      this.running = false;
      this.onError?.(error);
    });
  }

  readonly connections: ConnectionPool;

  async #send(request: Request): Promise<Outcome> {
    const platform = this.#platform;
    const { timer } = this.host.clock;
    platform.requests.push(request.path);
    await new Promise<void>((resolve) => timer(5, resolve));
    if (!platform.reachable) return { kind: "lost", reason: "no connection" };
    const other = platform.answer?.(request.path);
    if (other) return other;
    const query = new URLSearchParams(request.path.slice(request.path.indexOf("?")));
    const image = platform.packages.get(query.get("version") ?? "");
    if (!image) return { kind: "refused", status: 404, body: new Uint8Array() };
    if (query.get("version") !== platform.shared.fw_version)
      return { kind: "refused", status: 400, body: new Uint8Array() };
    const size = Number(query.get("size") ?? image.length);
    const from = size * Number(query.get("chunk") ?? 0);
    return this.#hand(request, image.subarray(from, from + size));
  }

  async #hand(request: Request, bytes: Uint8Array): Promise<Outcome> {
    const platform = this.#platform;
    const given: Outcome = { kind: "lost", reason: "given up" };
    if (!request.sink?.begin(platform.hidesLength ? undefined : bytes.length)) return given;
    for (let at = 0; at < bytes.length; ) {
      await new Promise<void>((resolve) => this.host.clock.timer(1, resolve));
      platform.onFragment?.();
      if (!platform.reachable) return { kind: "lost", reason: "connection reset" };
      const next = platform.drops[0] ?? Number.POSITIVE_INFINITY;
      const fragment = bytes.slice(at, Math.min(at + FRAGMENT, at + next - platform.fetched));
      platform.fetched += fragment.length;
      at += fragment.length;
      if (!request.sink.fragment(fragment)) return given;
      if (platform.fetched === next) {
        platform.drops.shift();
        return { kind: "lost", reason: "connection reset" };
      }
    }
    return { kind: "done", status: 200, body: new Uint8Array(), whole: true, date: undefined };
  }
}
