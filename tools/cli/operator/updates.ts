// Follows the updates of devices by their telemetry: fw_state, fw_progress, fw_error, current_fw_*.
import type { Operator } from "../../operator/operator.js";
import type { Reading } from "../../operator/shapes.js";

const CURRENT = ["current_fw_title", "current_fw_version", "current_fw_checksum"] as const;
const KEYS = ["fw_state", "fw_progress", "fw_error", ...CURRENT] as const;

export interface Target {
  readonly id: string;
  readonly name: string;
}

export interface Update {
  readonly device: Target;
  /** As reported; `waiting` until the device reports something new. */
  readonly state: string;
  /** 0 to 100, while it downloads. */
  readonly progress: number | undefined;
  readonly error: string | undefined;
  readonly end: "updated" | "failed" | undefined;
}

export interface Version {
  readonly title: string;
  readonly version: string;
}

export interface Image extends Version {
  /** Checksum of the package; undefined if it has none. */
  readonly checksum: string | undefined;
}

/** Why a device that runs the version proves nothing about the image. */
export const NO_CHECKSUM =
  "it runs this version, but knows no checksum of it: it was not installed by an update";

/** Of a device that has not reported yet. */
export function waiting(device: Target): Update {
  return { device, state: "waiting", progress: undefined, error: undefined, end: undefined };
}

type Readings = Readonly<Record<string, Reading>>;

/** Follows one device. What it had reported before the assignment is not taken for news. */
export class UpdateWatch {
  readonly device: Target;
  readonly #operator: Operator;
  readonly #wanted: Image;
  #before: Readings = {};

  constructor(operator: Operator, device: Target, wanted: Image) {
    this.#operator = operator;
    this.device = device;
    this.#wanted = wanted;
  }

  /** Before the assignment. */
  async begin(): Promise<void> {
    this.#before = await this.#read();
  }

  /** The title that it ran before, if it is not the image's. */
  get otherTitle(): string | undefined {
    const title = this.#before.current_fw_title?.value;
    return isOtherTitle(title, this.#wanted.title) ? String(title) : undefined;
  }

  async look(): Promise<Update> {
    return judge(this.device, this.#before, await this.#read(), this.#wanted);
  }

  #read(): Promise<Readings> {
    return this.#operator.timeSeries.latest(this.device.id, KEYS);
  }
}

/** What the readings before and after an assignment mean. */
export function judge(device: Target, before: Readings, after: Readings, wanted: Image): Update {
  const fresh = (key: string): unknown => {
    const now = after[key];
    const old = before[key];
    const isNew = now !== undefined && (old === undefined || now.ts !== old.ts || now.value !== old.value);
    return isNew ? now.value : undefined;
  };
  const state = fresh("fw_state");
  const progress = fresh("fw_progress");
  const error = fresh("fw_error");
  const isNamed =
    isSameText(after.current_fw_title?.value, wanted.title) &&
    isSameText(after.current_fw_version?.value, wanted.version);
  const checksum = String(after.current_fw_checksum?.value ?? "");
  const runs = isNamed && isSameChecksum(checksum, wanted.checksum);
  const updated = runs && state === "UPDATED";
  const unproven = isNamed && state === "UPDATED" && checksum === "";
  const already = runs && state === undefined && after.fw_state?.value === "UPDATED";
  return {
    device,
    state: already ? "UPDATED" : typeof state === "string" ? state : "waiting",
    progress: state === "DOWNLOADING" && typeof progress === "number" ? progress : undefined,
    error: unproven ? NO_CHECKSUM : typeof error === "string" && error !== "" ? error : undefined,
    end: updated || already ? "updated" : state === "FAILED" || unproven ? "failed" : undefined,
  };
}

export function isSameChecksum(reported: string, wanted: string | undefined): boolean {
  return reported !== "" && reported.toLowerCase() === wanted?.toLowerCase();
}

const NUMBER = /^-?(?:\d+|\d*\.\d+)$/;
/** JavaScript rounds numbers of more digits. */
const EXACT = 15;

/** The platform stores text that looks like a number as one: "2.0" becomes 2. */
/** A device that has reported no title yet may run any firmware. */
export function isOtherTitle(reported: unknown, title: string): boolean {
  return reported !== undefined && reported !== "" && !isSameText(reported, title);
}

export function isSameText(stored: unknown, text: string): boolean {
  if (typeof stored === "number") return stored === Number(text);
  const kept = String(stored ?? "");
  if (kept === text) return true;
  const areNumbers = [kept, text].every((one) => one.length <= EXACT && NUMBER.test(one));
  return areNumbers && Number(kept) === Number(text);
}
