// Where a device stands with its update, by what it reported last.
import { FAILURES, type Failure } from "../../../src/agent/firmware/failures.js";

/** Where a device stands, as a fleet is counted. */
export const STAGES = {
  none: "No update",
  assigned: "Assigned",
  downloading: "Downloading",
  verified: "Verified",
  trial: "On trial",
  kept: "Kept",
  rolledBack: "Rolled back",
  failed: "Failed",
} as const;
export type Stage = keyof typeof STAGES;

/** The newest values; undefined where there is none. */
export interface Newest {
  /** `fw_state` */
  state: string | undefined;
  /** `fw_error` */
  error: string | undefined;
  /** `current_fw_version` */
  running: string | undefined;
  /** The shared attribute `fw_version`. */
  wanted: string | undefined;
}

/** Of these the image was on trial already. */
export const ON_TRIAL: readonly Failure[] = [
  ...(["notStarted", "notConfirmed", "interrupted", "notReached", "offline"] as const),
  ...(["notKept", "selfTest", "misnamed"] as const),
];
/** Of these all of it was downloaded. */
export const VERIFYING: readonly Failure[] = ["checksum", "signature", "damaged", "readBack", "unfit"];

/** Which failure a text of `fw_error` is; more may follow it: "the new image did not start (task watchdog)". */
export function failureOf(error: string): Failure | undefined {
  return (Object.keys(FAILURES) as Failure[])
    .filter((name) => error.startsWith(FAILURES[name].text))
    .sort((one, other) => FAILURES[other].text.length - FAILURES[one].text.length)[0];
}

export function isOneOf(names: readonly Failure[], error: string): boolean {
  const failure = failureOf(error);
  return failure !== undefined && names.includes(failure);
}

export function stageOf({ state, error = "", running, wanted }: Newest): Stage {
  if (wanted === undefined && state !== "QUEUED" && state !== "INITIATED") return "none";
  if (state === "FAILED") return isOneOf(ON_TRIAL, error) ? "rolledBack" : "failed";
  if (state === "DOWNLOADING") return "downloading";
  if (state === "DOWNLOADED" || state === "VERIFIED") return "verified";
  if (state === "UPDATING") return "trial";
  // What runs already needs no update, and a device does not report one.
  if (state === "UPDATED" || (running !== undefined && running === wanted)) return "kept";
  return "assigned";
}
