// Decides what happens next with an update, and why: from the assignment, the running image and the
// journal. Changes nothing.
import type { Assigned } from "../../wire/firmware.js";
import { admit, type Image, type Rules } from "./admission.js";
import type { Assignment } from "./assignment.js";
import { type Failed, failed } from "./failures.js";
import { isGivenUp, type UpdateRecord } from "./journal.js";
import { STATES } from "./states.js";

/** Time that an assignment other than the journal's must stay, as its keys come one by one. */
const SETTLED_MS = 2000;
/** The same for one that lacks keys. */
const TORN_MS = 22_000;

export type Decision =
  /** Until something happens, or `ms` are over. */
  | { readonly act: "wait"; readonly ms?: number }
  /** The assignment is read again after `ms`. */
  | { readonly act: "read"; readonly ms: number }
  /** Nothing is assigned any more. */
  | { readonly act: "forget" }
  /** Another image is assigned, or keys that make no sense. */
  | { readonly act: "adopt"; readonly title: string; readonly version: string }
  /** The assigned image runs: UPDATED. */
  | { readonly act: "report" }
  | { readonly act: "fail"; readonly why: Failed }
  /** The next step of the journal's state. */
  | { readonly act: "proceed"; readonly image: Image };

const WAIT: Decision = { act: "wait" };

/**
 * `running`: algorithm and checksum of the running image, empty if unknown. `retryMs`: until a
 * failed update is due.
 */
export const decide = (
  assigned: Assigned,
  { key, settledMs, isRepeated }: Pick<Assignment, "key" | "settledMs" | "isRepeated">,
  running: string,
  record: UpdateRecord,
  retryMs: number,
  rules: Rules,
): Decision => {
  if (key !== record.key) {
    const ms = (assigned.kind === "torn" ? TORN_MS : SETTLED_MS) - settledMs;
    if (ms > 0) return { act: "read", ms };
    if (assigned.kind !== "absent") return { act: "adopt", ...named(assigned) };
    const { isTransfer } = STATES[record.state];
    return isTransfer ? { act: "fail", why: failed("withdrawn") } : { act: "forget" };
  }
  if (key === "") return WAIT;
  if (runs(assigned, running, rules))
    return record.state === "updated" && !isRepeated ? WAIT : { act: "report" };
  if (record.state === "failed") {
    if (isGivenUp(record)) return WAIT;
    if (retryMs > 0) return { act: "wait", ms: retryMs };
  }
  const admitted = admit(assigned, rules, record);
  return "failure" in admitted ? { act: "fail", why: admitted } : { act: "proceed", image: admitted };
};

/**
 * The assigned image runs. One that was flashed knows no checksum: then title and version tell.
 */
const runs = (assigned: Assigned, running: string, { options }: Rules): boolean => {
  if (assigned.kind !== "assigned") return false;
  const { title, version, algorithm, checksum } = assigned.assignment;
  if (title !== options.title || version !== options.version) return false;
  const assignedBytes = `${algorithm} ${checksum}`;
  return checksum === undefined || running === "" || running === assignedBytes;
};

const named = (assigned: Assigned): { title: string; version: string } => {
  const { title = "", version = "" } = assigned.kind === "assigned" ? assigned.assignment : {};
  return { title, version };
};
