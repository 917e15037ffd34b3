import type { Scope } from "../attributes.js";
import type { Clock } from "../common/clock.js";
import type { Device } from "../devices.js";
import { sameValue, type Value } from "../values.js";
import type { OtaPackage } from "./packages.js";

/** What the queue uses of the platform. */
interface Notified {
  readonly clock: Clock;
  assigned(device: Device): OtaPackage | undefined;
  saveSeries(device: Device, ts: number, values: readonly (readonly [string, Value])[]): void;
  saveAttributes(device: Device, scope: Scope, values: readonly (readonly [string, Value])[]): void;
  deleteAttributes(device: Device, scope: Scope, keys: readonly string[]): void;
}

/** Between two devices of the queue: the platform takes 100 in 60 s. */
const PACE_MS = 600;
/** Between the deletion of what doesn't apply and the new values: a poll has ended by then. */
const GAP_MS = 5;
const ALL = ["title", "version", "ts", "state", "size", "checksum", "checksum_algorithm", "url", "tag"];

/** Notifies devices of the package they shall run. */
export class OtaQueue {
  readonly #core: Notified;
  #freeAt = 0;

  constructor(core: Notified) {
    this.#core = core;
  }

  /** The device's package is another one now, or none. */
  changed(device: Device, target: OtaPackage | undefined): void {
    if (!target) {
      const keys = ALL.map((name) => `fw_${name}`);
      this.#core.deleteAttributes(device, "SHARED_SCOPE", keys);
      return;
    }
    const now = this.#core.clock.now();
    const { title, version, tag } = target;
    const values: [string, Value][] = [
      ["target_fw_title", title],
      ["target_fw_version", version],
    ];
    if (tag) values.push(["target_fw_tag", tag]);
    values.push(["target_fw_ts", BigInt(now)], ["fw_state", "QUEUED"]);
    this.#core.saveSeries(device, now, values);
    this.#enqueue(device, target);
  }

  /** The platform started again: what stood in the queue takes its place again. */
  resume(device: Device, target: OtaPackage): void {
    const { values } = sharedSet(target);
    const isTold = values.every(([key, value]) =>
      sameValue(device.attributes.get("SHARED_SCOPE", key)?.value, value),
    );
    if (!isTold) this.#enqueue(device, target);
  }

  #enqueue(device: Device, target: OtaPackage): void {
    const now = this.#core.clock.now();
    const at = Math.max(now, this.#freeAt);
    this.#freeAt = at + PACE_MS;
    this.#core.clock.timer(at - now, () => this.#initiate(device, target));
  }

  #initiate(device: Device, target: OtaPackage): void {
    // Assigned again while it waited: that has its own place in the queue.
    if (this.#core.assigned(device) !== target) return;
    this.#core.saveSeries(device, this.#core.clock.now(), [["fw_state", "INITIATED"]]);
    const { gone, values } = sharedSet(target);
    this.#core.deleteAttributes(device, "SHARED_SCOPE", gone);
    this.#core.clock.timer(GAP_MS, () => this.#core.saveAttributes(device, "SHARED_SCOPE", values));
  }
}

/** The shared attributes of a package, and the keys that don't apply to it. */
function sharedSet(target: OtaPackage): { gone: string[]; values: [string, Value][] } {
  const { title, version, tag, url, size, algorithm, checksum } = target;
  const wanted: [string, Value | undefined][] = [
    ["fw_title", title],
    ["fw_version", version],
    ["fw_tag", tag || undefined],
    ["fw_url", url],
    ["fw_size", size === undefined ? undefined : BigInt(size)],
    ["fw_checksum_algorithm", algorithm],
    ["fw_checksum", checksum],
  ];
  const gone: string[] = [];
  const values: [string, Value][] = [];
  for (const [key, value] of wanted) {
    if (value === undefined) gone.push(key);
    else values.push([key, value]);
  }
  return { gone, values };
}
