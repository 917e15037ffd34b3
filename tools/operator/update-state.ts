// The state of a device's update, and its name for people: one vocabulary for command line and console.
import { FAILURES, type Failure } from "../../src/agent/firmware/failures.js";

/** The names of all states. */
export const STAGES = {
  none: "No update",
  assigned: "Assigned",
  downloading: "Downloading",
  verified: "Verified",
  trial: "On trial",
  confirmed: "Confirmed",
  rolledBack: "Rolled back",
  failed: "Failed",
} as const;
export type Stage = keyof typeof STAGES;

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
}

/** Failures of an image that was on trial already. */
export const ON_TRIAL: readonly Failure[] = [
  ...(["notStarted", "notConfirmed", "interrupted", "notReached", "offline"] as const),
  ...(["notKept", "selfTest", "misnamed"] as const),
];
/** Failures after a complete download. */
export const VERIFYING: readonly Failure[] = ["checksum", "signature", "damaged", "readBack", "unfit"];

/** The failure that starts a text of `fw_error`, such as "the new image did not start (task watchdog)". */
export function failureOf(error: string): Failure | undefined {
  return (Object.keys(FAILURES) as Failure[])
    .filter((name) => error.startsWith(FAILURES[name].text))
    .sort((one, other) => FAILURES[other].text.length - FAILURES[one].text.length)[0];
}

export function isOneOf(names: readonly Failure[], error: string): boolean {
  const failure = failureOf(error);
  return failure !== undefined && names.includes(failure);
}

/** The name of a reported `fw_state`; an unknown one as it is. */
export function stateName(state: unknown): string {
  if (state === "QUEUED" || state === "INITIATED") return STAGES.assigned;
  if (state === "DOWNLOADED") return "Downloaded";
  const stage = typeof state === "string" ? BY_STATE[state] : undefined;
  if (stage !== undefined) return STAGES[stage];
  return typeof state === "string" ? state : (JSON.stringify(state) ?? "");
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

export function stageOf({ state, error = "", running, wanted }: Newest): Stage {
  if (wanted === undefined && state !== "QUEUED" && state !== "INITIATED") return "none";
  if (state === "FAILED") return isOneOf(ON_TRIAL, error) ? "rolledBack" : "failed";
  const stage = BY_STATE[state ?? ""];
  if (stage !== undefined) return stage;
  // A device reports no update to a version that it runs already.
  return running !== undefined && running === wanted ? "confirmed" : "assigned";
}
