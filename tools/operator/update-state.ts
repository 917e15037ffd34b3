// States of a device's update and their words for people, shared by CLI and console.
import type { Failure } from "../../src/agent/firmware/failures.js";
import { updateWord } from "../../src/agent/firmware/state-words.js";

/** The names of all states. */
export const STAGES = {
  none: "No update",
  assigned: "Assigned",
  downloading: "Downloading",
  verified: "Verified",
  trial: "On trial",
  confirmed: "Confirmed",
  unverified: "Updated, not verified",
  rolledBack: "Rolled back",
  failed: "Failed",
} as const;
export type Stage = keyof typeof STAGES;

/** Why an update is not verified. */
export const NO_CHECKSUM = "The device reports no checksum of its image.";

/** The newest values; undefined if there is none. */
export interface Newest {
  /** `fw_state` */
  state: string | undefined;
  /** `fw_error` */
  error: string | undefined;
  /** `current_fw_version` */
  running: string | undefined;
  /** The shared attribute `fw_version`. */
  wanted: string | undefined;
  /** `current_fw_checksum`; undefined or empty if the device knows none. */
  runningChecksum?: string | undefined;
  /** The shared attribute `fw_checksum`. */
  wantedChecksum?: string | undefined;
}

/** Failures of an image that was on trial already. */
export const ON_TRIAL: readonly Failure[] = [
  ...(["not confirmed", "power lost on trial", "not accepted in time", "platform not reached"] as const),
  ...(["confirmation failed", "self-test failed", "other version than assigned"] as const),
];

/** `error`: a `fw_error` text, which may continue with a detail. */
const isOfTrial = (error: string): boolean =>
  ON_TRIAL.some((name) => error === name || error.startsWith(`${name} (`));

/** The word for a reported `fw_state`, such as "on trial"; an unknown state as it is. */
export function stateWord(state: unknown, error?: unknown): string {
  if (typeof state !== "string") return JSON.stringify(state) ?? "";
  if (state === "FAILED" && typeof error === "string" && isOfTrial(error)) return "rolled back";
  return updateWord(state);
}

/** Like `stateWord`, capitalized. */
export function stateName(state: unknown, error?: unknown): string {
  const word = stateWord(state, error);
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const BY_STATE: Readonly<Record<string, Stage | undefined>> = {
  __proto__: null as never,
  DOWNLOADING: "downloading",
  DOWNLOADED: "verified",
  VERIFIED: "verified",
  UPDATING: "trial",
  UPDATED: "confirmed",
  FAILED: "failed",
};

export function stageOf(newest: Newest): Stage {
  const { state, error = "", running, wanted, runningChecksum, wantedChecksum } = newest;
  if (wanted === undefined && state !== "QUEUED" && state !== "INITIATED") return "none";
  if (state === "FAILED") return isOfTrial(error) ? "rolledBack" : "failed";
  const stage = BY_STATE[state ?? ""];
  // Another image may have the same version, and a device that was flashed knows no checksum.
  const isOther = runningChecksum?.toLowerCase() !== wantedChecksum?.toLowerCase();
  if (wantedChecksum && isOther && (stage === "confirmed" || stage === undefined))
    return stage && !runningChecksum && running === wanted ? "unverified" : "assigned";
  if (stage !== undefined) return stage;
  // A device reports no update to a version that it runs already.
  return running !== undefined && running === wanted ? "confirmed" : "assigned";
}
