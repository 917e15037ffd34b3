// A device of a local platform that reports, answers and updates as a test says.
import type { Clock } from "../../tools/platform/core/common/clock.js";
import type { Device } from "../../tools/platform/core/devices.js";
import type { Platform } from "../../tools/platform/server.js";

export const MINUTE = 60_000;
const UPDATE_MS = 30_000;

/** How a device behaves after it is assigned a firmware. */
export type Fate =
  | "good"
  | "fails"
  /** Is switched off. */
  | "off"
  /** Runs the image, and never reports again. */
  | "falls silent"
  /** Runs the image in recovery mode. */
  | "recovers"
  /** Reports every 20 minutes. */
  | "sleeps"
  /** Runs the image, and the one before a minute later, without a report of the update. */
  | "goes back"
  /** Fails, and runs the image after a second try. */
  | "second try"
  /** Takes any image of the version that it runs for its own, and reports it as updated. */
  | "trusts versions"
  /** As above. It was flashed by cable and knows no checksum. */
  | "flashed";

interface Options {
  profileId?: string;
  /** A device with a fate runs pump 1.0.0 at first, and takes updates with `tick`. */
  fate?: Fate;
  /** From the assignment to the end of an update; 30 s by default. */
  updateMs?: number;
  /** The `fw_error` of a failed update. */
  failure?: string;
  /** Of the running image. Default `pump`. */
  title?: string;
}

/** Ticks all devices on the platform's clock, with one timer, as a fake clock is slow with many. */
export function keepTicking(clock: Clock, devices: readonly ScriptedDevice[], everyMs: number): void {
  for (const one of devices) one.tick(clock.now());
  clock.timer(everyMs, () => keepTicking(clock, devices, everyMs));
}

export class ScriptedDevice {
  readonly device: Device;
  fate: Fate;
  version = "1.0.0";
  /** Versions of the updates begun, in order. */
  readonly began: string[] = [];
  readonly #platform: Platform;
  readonly #base: string;
  readonly #updateMs: number;
  readonly #failure: string;
  #ended = false;
  #since = 0;
  #backAt = Number.POSITIVE_INFINITY;
  #wanted = "";
  /** Of the running image. */
  #checksum = "";

  constructor(platform: Platform, name: string, options: Options = {}) {
    const { profileId = platform.core.profiles.default.id, fate } = options;
    const token = `${name}-token`;
    this.#platform = platform;
    this.#updateMs = options.updateMs ?? UPDATE_MS;
    this.#failure = options.failure ?? "self-test failed";
    this.device = platform.core.createDevice({ name, profileId }, token);
    this.#base = `${platform.url}/api/v1/${encodeURIComponent(token)}/`;
    this.fate = fate ?? "good";
    const image = { current_fw_title: options.title ?? "pump", current_fw_version: "1.0.0" };
    if (fate !== undefined) this.#report(image);
  }

  get id(): string {
    return this.device.id;
  }

  async send(path: string, body: unknown): Promise<void> {
    await fetch(this.#base + path, { method: "POST", body: JSON.stringify(body) });
  }

  async get(path: string): Promise<Record<string, unknown>> {
    return (await (await fetch(this.#base + path)).json()) as Record<string, unknown>;
  }

  /**
   * Answers RPCs until `end` by a function, or one RPC by each member of a list. `undefined` gives
   * no answer.
   */
  async answer(answers: readonly unknown[] | ((method: string, params: unknown) => unknown)): Promise<void> {
    const list = typeof answers === "function" ? undefined : [...answers];
    while (!this.#ended && list?.length !== 0) {
      const response = await fetch(`${this.#base}rpc?timeout=1000`).catch(() => undefined);
      if (response?.status !== 200) continue;
      // Another test's fault may answer with a page.
      const request = (await response.json().catch(() => undefined)) as
        | { id: number; method: string; params: unknown }
        | undefined;
      if (!request) continue;
      const { id, method, params } = request;
      const answer = typeof answers === "function" ? answers(method, params) : list?.shift();
      if (answer !== undefined) await this.send(`rpc/${id}`, answer);
    }
  }

  end(): void {
    this.#ended = true;
  }

  /** Takes the steps of an update that are due, as the fate says. */
  tick(now: number): void {
    const isSilent = this.fate === "off" || (this.fate === "falls silent" && this.version !== "1.0.0");
    if (isSilent || (this.fate === "sleeps" && now % (20 * MINUTE) !== 0)) return;
    this.device.lastActivityTime = now;
    const wanted = this.#shared("fw_version");
    const image = `${wanted} ${this.#shared("fw_checksum")}`;
    const isOther = wanted !== "" && image !== `${this.version} ${this.#checksum}`;
    const trusts = (this.fate === "trusts versions" || this.fate === "flashed") && wanted === this.version;
    if (image !== this.#wanted) {
      [this.#wanted, this.#since] = [image, now];
      if (trusts) this.#report({ fw_state: "UPDATED", fw_error: "", ...this.#current });
      else if (isOther) this.#begin(wanted);
    }
    if (now >= this.#backAt) {
      this.#backAt = Number.POSITIVE_INFINITY;
      this.#report({ current_fw_version: "1.0.0" });
    }
    if (isOther && !trusts && now - this.#since >= this.#updateMs) this.#update(wanted, now);
  }

  #begin(version: string): void {
    this.began.push(version);
    this.#report({ fw_state: "DOWNLOADING", fw_error: "" });
  }

  #update(wanted: string, now: number): void {
    const isSecondTry = now - this.#since >= 3 * this.#updateMs;
    if (this.fate === "fails" || (this.fate === "second try" && !isSecondTry)) {
      if (this.device.series.latest("fw_state")?.value !== "FAILED")
        this.#report({ fw_state: "FAILED", fw_error: this.#failure });
      return;
    }
    this.version = wanted;
    this.#checksum = this.#shared("fw_checksum");
    this.#report({ fw_state: "UPDATED", fw_error: "", ...this.#current });
    if (this.fate === "recovers")
      this.#platform.core.receiveAttributes(this.device, [["moteRecovery", "it divided by zero"]]);
    if (this.fate === "goes back") this.#backAt = now + MINUTE;
  }

  get #current(): Record<string, string> {
    const checksum = this.fate === "flashed" ? "" : this.#checksum;
    const title = this.#shared("fw_title");
    return { current_fw_title: title, current_fw_version: this.version, current_fw_checksum: checksum };
  }

  #shared(key: string): string {
    return String(this.device.attributes.get("SHARED_SCOPE", key)?.value ?? "");
  }

  #report(values: Record<string, string>): void {
    const { core } = this.#platform;
    core.receiveTelemetry(this.device, core.clock.now(), Object.entries(values));
  }
}
