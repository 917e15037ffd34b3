import type { Device } from "../devices.js";
import type { PlatformCore } from "../platform.js";
import { sameValue, type Value } from "../values.js";
import type { OtaPackage, PackageType } from "./packages.js";

/** Between two devices of the queue: the platform takes 100 in 60 s. */
const PACE_MS = 600;
/** Between the deletion of what doesn't apply and the new values: a poll has ended by then. */
const GAP_MS = 5;
const ALL = ["title", "version", "ts", "state", "size", "checksum", "checksum_algorithm", "url", "tag"];

/** Notifies devices of the package they shall run. */
export class OtaQueue {
  readonly #core: PlatformCore;
  #freeAt = 0;

  constructor(core: PlatformCore) {
    this.#core = core;
  }

  /** The device's package is another one now, or none. */
  changed(device: Device, type: PackageType, target: OtaPackage | undefined): void {
    const prefix = prefixOf(type);
    if (!target) {
      const keys = ALL.map((name) => prefix + name);
      this.#core.deleteAttributes(device, "SHARED_SCOPE", keys);
      return;
    }
    const now = this.#core.clock.now();
    const { title, version, tag } = target;
    const values: [string, Value][] = [
      [`target_${prefix}title`, title],
      [`target_${prefix}version`, version],
    ];
    if (tag) values.push([`target_${prefix}tag`, tag]);
    values.push([`target_${prefix}ts`, BigInt(now)], [`${prefix}state`, "QUEUED"]);
    this.#core.saveSeries(device, now, values);
    this.#enqueue(device, type, target);
  }

  /** The platform started again: what stood in the queue takes its place again. */
  resume(device: Device, type: PackageType, target: OtaPackage): void {
    const { values } = sharedSet(prefixOf(type), target);
    const isTold = values.every(([key, value]) =>
      sameValue(device.attributes.get("SHARED_SCOPE", key)?.value, value),
    );
    if (!isTold) this.#enqueue(device, type, target);
  }

  #enqueue(device: Device, type: PackageType, target: OtaPackage): void {
    const now = this.#core.clock.now();
    const at = Math.max(now, this.#freeAt);
    this.#freeAt = at + PACE_MS;
    this.#core.clock.timer(at - now, () => this.#initiate(device, type, target));
  }

  #initiate(device: Device, type: PackageType, target: OtaPackage): void {
    // Assigned again while it waited: that has its own place in the queue.
    if (this.#core.assigned(device, type) !== target) return;
    const prefix = prefixOf(type);
    this.#core.saveSeries(device, this.#core.clock.now(), [[`${prefix}state`, "INITIATED"]]);
    const { gone, values } = sharedSet(prefix, target);
    this.#core.deleteAttributes(device, "SHARED_SCOPE", gone);
    this.#core.clock.timer(GAP_MS, () => this.#core.saveAttributes(device, "SHARED_SCOPE", values));
  }
}

function prefixOf(type: PackageType): string {
  return type === "FIRMWARE" ? "fw_" : "sw_";
}

/** The shared attributes of a package, and the keys that don't apply to it. */
function sharedSet(prefix: string, target: OtaPackage): { gone: string[]; values: [string, Value][] } {
  const { title, version, tag, url, size, algorithm, checksum } = target;
  const wanted: [string, Value | undefined][] = [
    [`${prefix}title`, title],
    [`${prefix}version`, version],
    [`${prefix}tag`, tag || undefined],
    [`${prefix}url`, url],
    [`${prefix}size`, size === undefined ? undefined : BigInt(size)],
    [`${prefix}checksum_algorithm`, algorithm],
    [`${prefix}checksum`, checksum],
  ];
  const gone: string[] = [];
  const values: [string, Value][] = [];
  for (const [key, value] of wanted) {
    if (value === undefined) gone.push(key);
    else values.push([key, value]);
  }
  return { gone, values };
}
