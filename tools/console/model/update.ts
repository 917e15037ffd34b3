// The steps of an update, from the reports of device and platform.
import { FAILURES } from "../../../src/agent/firmware/failures.js";
import { duration } from "../../duration.js";
import { failureOf, isOneOf, NO_CHECKSUM, ON_TRIAL, STAGES, VERIFYING } from "../../operator/update-state.js";
import { bytes, rate } from "./format.js";
import { isUpdating } from "./guard.js";

export interface Reading {
  ts: number;
  value: unknown;
}

export interface History {
  states: readonly Reading[];
  /** Percent. */
  progress: readonly Reading[];
  errors: readonly Reading[];
}

export interface Step {
  title: string;
  state: "done" | "now" | "failed" | "ahead";
  /** When it began, in milliseconds since 1970. */
  at: number | undefined;
  note: string;
}

export interface Picture {
  steps: Step[];
  /** One sentence. */
  summary: string;
  /** Percent; undefined except during the download. */
  progress: number | undefined;
}

const ORDER = [
  "QUEUED",
  "INITIATED",
  "DOWNLOADING",
  "DOWNLOADED",
  "VERIFIED",
  "UPDATING",
  "UPDATED",
  "FAILED",
];
/** The step of each state. */
const STEP_OF: Record<string, number> = {
  ...{ QUEUED: 0, INITIATED: 0, DOWNLOADING: 1, DOWNLOADED: 2, VERIFIED: 2, UPDATING: 3, UPDATED: 4 },
};
const TITLES = [STAGES.assigned, STAGES.downloading, STAGES.verified, STAGES.trial, STAGES.confirmed];
/** The rate is computed over the last half minute. */
const RATE_MS = 30_000;

interface Attempt {
  states: { ts: number; state: string }[];
  /** Failed attempts since the package was assigned. */
  failures: number;
  assignedAt: number | undefined;
}

/** The last attempt: the states after the previous failure, if any. */
function attemptOf(states: readonly Reading[]): Attempt {
  const all = states
    .filter(({ value }) => typeof value === "string" && ORDER.includes(value))
    .map(({ ts, value }) => ({ ts, state: value as string }))
    .sort((one, other) => one.ts - other.ts || ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  const begun = all.findLastIndex(({ state }) => state === "QUEUED");
  const since = all.slice(Math.max(0, begun));
  const assigned = since.find(({ state }) => state === "QUEUED" || state === "INITIATED");
  const ended = since.findLastIndex(
    ({ state }, i) => (state === "FAILED" || state === "UPDATED") && i < since.length - 1,
  );
  const failures = since.slice(0, ended + 1).filter(({ state }) => state === "FAILED").length;
  return { states: since.slice(ended + 1), failures, assignedAt: assigned?.ts };
}

/** `size`: bytes of the image, if known. `isUnverified`: the device reports no checksum. */
export function pictureOf(
  { states, progress, errors }: History,
  { size, now, isUnverified = false }: { size: number | undefined; now: number; isUnverified?: boolean },
): Picture {
  const attempt = attemptOf(states);
  const at = (state: string): number | undefined => attempt.states.find((one) => one.state === state)?.ts;
  const last = attempt.states.at(-1);
  const failed = last?.state === "FAILED" ? last : undefined;
  const error = failed ? String(errors.find(({ ts }) => ts === failed.ts)?.value ?? "") : "";
  const reached = Math.max(-1, ...attempt.states.map(({ state }) => STEP_OF[state] ?? -1));
  const place = failed ? failedStep(reached, error) : reached;
  const begun = at("DOWNLOADING");
  const came = progress.filter(
    ({ ts }) => begun !== undefined && ts >= begun && (!failed || ts <= failed.ts),
  );
  const starts = [
    attempt.assignedAt,
    begun,
    at("DOWNLOADED") ?? at("VERIFIED"),
    at("UPDATING"),
    at("UPDATED"),
  ];
  const steps = TITLES.map((title, i): Step => {
    const state = stepState(i, place, failed !== undefined);
    return { title, state, at: starts[i], note: "" };
  });
  const [, download, verify, trial, end] = steps as [Step, Step, Step, Step, Step];
  download.note = downloadNote(came, {
    begun,
    ended: at("DOWNLOADED") ?? at("VERIFIED"),
    size,
    now,
    isOn: place === 1 && !failed,
  });
  if (download.state === "done") download.title = "Downloaded";
  if (verify.state === "now")
    verify.note = at("VERIFIED") === undefined ? "reading the image back from flash" : "";
  if (verify.state === "now" && at("VERIFIED") !== undefined) verify.state = "done";
  if (trial.state === "now") trial.note = "the new image must reach the platform and pass its self-test";
  if (isUnverified) end.title = STAGES.unverified;
  if (failed) {
    end.title = place === 3 ? "Rolled back" : "Not installed";
    end.state = "failed";
    end.at = failed.ts;
    end.note = error || "the device gave no reason";
  }
  const isDownloading = place === 1 && !failed;
  return {
    steps,
    summary: summaryOf(attempt, { last: last?.state, isOnTrial: place === 3, error, isUnverified }),
    progress: isDownloading ? percentOf(came.at(-1)) : undefined,
  };
}

function failedStep(reached: number, error: string): number {
  if (isOneOf(ON_TRIAL, error)) return 3;
  if (isOneOf(VERIFYING, error)) return 2;
  return Math.min(3, Math.max(1, reached));
}

function stepState(step: number, place: number, isFailed: boolean): Step["state"] {
  if (step < place) return "done";
  if (step > place) return "ahead";
  if (isFailed) return "failed";
  // Assigned and confirmed are done as soon as they are reached.
  return step === 0 || step === 4 ? "done" : "now";
}

function percentOf(reading: Reading | undefined): number {
  return typeof reading?.value === "number" ? Math.min(100, Math.max(0, reading.value)) : 0;
}

interface Download {
  begun: number | undefined;
  ended: number | undefined;
  size: number | undefined;
  now: number;
  isOn: boolean;
}

function downloadNote(came: readonly Reading[], { begun, ended, size, now, isOn }: Download): string {
  if (begun === undefined) return "";
  if (!isOn) {
    if (ended === undefined || size === undefined || ended <= begun) return "";
    return `${bytes(size)} in ${duration(ended - begun)}, ${rate((size * 1000) / (ended - begun))}`;
  }
  const percent = percentOf(came.at(-1));
  if (size === undefined) return `${percent} %`;
  const speed = speedOf(came, begun, size, now);
  const done = `${percent} %, ${bytes((size * percent) / 100)} of ${bytes(size)}`;
  if (speed === undefined || speed <= 0) return done;
  return `${done}, ${rate(speed)}, ${duration(((size * (100 - percent)) / 100 / speed) * 1000)} left`;
}

/** Bytes per second over the last half minute, or over the last two reports if none are so new. */
function speedOf(came: readonly Reading[], begun: number, size: number, now: number): number | undefined {
  const all = came.length === 1 ? [{ ts: begun, value: 0 }, ...came] : came;
  const recent = all.filter(({ ts }) => ts >= now - RATE_MS);
  const [first, last] = recent.length >= 2 ? [recent[0], recent.at(-1)] : [all.at(-2), all.at(-1)];
  if (!first || !last || last.ts <= first.ts) return undefined;
  return ((percentOf(last) - percentOf(first)) / 100) * size * (1000 / (last.ts - first.ts));
}

function summaryOf(
  { failures }: Attempt,
  {
    last,
    isOnTrial,
    error,
    isUnverified,
  }: { last: string | undefined; isOnTrial: boolean; error: string; isUnverified: boolean },
): string {
  if (last === undefined) return "No update was reported.";
  const again = failures === 0 ? "" : ` It failed ${failures === 1 ? "once" : `${failures} times`} before.`;
  if (last === "FAILED") {
    const what = isOnTrial
      ? "The device rolled back to the previous image."
      : "The new image was not installed. The previous image is still running.";
    return `${what} ${outlook(error)}${again}`.trim();
  }
  if (last === "UPDATED" && isUnverified) return `The device reports the update as done. ${NO_CHECKSUM}`;
  if (last === "UPDATED") return `The new image is confirmed.${again}`;
  if (last === "UPDATING") return `The new image is on trial.${again}`;
  return isUpdating(last) && last !== "QUEUED" && last !== "INITIATED"
    ? `The update is running. The device keeps working meanwhile.${again}`
    : `The update is assigned and has not started.${again}`;
}

/** What the device does next. */
function outlook(error: string): string {
  const failure = failureOf(error);
  if (failure === undefined) return "";
  const { after } = FAILURES[failure];
  if (after === "condemn")
    return "The device does not retry. Assign another package, or unassign this one, wait a minute, and assign it again.";
  return after !== "spare"
    ? "The device retries after 1 min, 10 min and 1 h, three times in all."
    : "The device retries with growing delays, at most every 6 h.";
}
