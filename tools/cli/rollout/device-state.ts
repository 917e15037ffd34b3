// The state of a rollout's devices, as far as the platform's answers prove it.

import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord, readRollout } from "../../operator/rollout-record.js";
import type { EntityData, Reading } from "../../operator/shapes.js";
import { stateWord } from "../../operator/update-state.js";
import { eachOf } from "../operator/operator.js";
import { type Image, isSameChecksum, isSameText, NO_CHECKSUM } from "../operator/updates.js";

const PAGE = 500;
/** Devices that the query left out are read one by one, at most so many per look. */
const SINGLE_READS = 200;
const CURRENT = ["current_fw_title", "current_fw_version", "current_fw_checksum"] as const;
const SERIES = ["fw_state", "fw_error", ...CURRENT] as const;
/** Server attributes, or time series where the server is configured so. */
const ACTIVITY = ["active", "lastActivityTime", "inactivityAlarmTime"] as const;
/** The platform writes these shared attributes when it notifies a device of its assignment. */
const ASSIGNED = ["fw_version", "fw_checksum"] as const;
const RECOVERY = "moteRecovery";

/** A device's state as the platform returned it. */
export interface DeviceState {
  readonly id: string;
  readonly state: { readonly ts: number; readonly value: string };
  readonly error: string;
  readonly title: string;
  readonly version: string;
  /** Of the running image; empty if the device knows none. */
  readonly checksum: string;
  /** The image that the platform told the device to run, and when, by the platform's clock. */
  readonly assigned: { readonly at: number; readonly version: string; readonly checksum: string };
  /** Why the device is in recovery mode; empty if it is not. */
  readonly recovery: string;
  readonly active: boolean;
  /** Last activity in milliseconds since 1970, by the platform's clock; 0: never. */
  readonly heardAt: number;
  readonly silentAt: number;
  readonly record: RolloutRecord | undefined;
}

/** What one look proved about each device. */
export interface Look {
  readonly states: ReadonlyMap<string, DeviceState>;
  /** `GET device` answered that there is no such device. */
  readonly deleted: ReadonlySet<string>;
  // A device in neither: the platform did not return it, or did not answer. That proves nothing.
}

/** Looks at devices by id: a query per page, and single reads for those that it omits. */
export async function lookAt(operator: Operator, ids: readonly string[]): Promise<Look> {
  const states = new Map<string, DeviceState>();
  for (let at = 0; at < ids.length; at += PAGE)
    for (const row of await query(operator, ids.slice(at, at + PAGE))) {
      // A platform stores the activity of every device: a row without it is incomplete.
      if (activityOf(row.latest, "active") !== "") states.set(row.entityId.id, stateOf(row));
    }
  const deleted = new Set<string>();
  const missing = ids.filter((id) => !states.has(id)).slice(0, SINGLE_READS);
  await eachOf(missing, async (id) => {
    const state = await readSingly(operator, id);
    if (state === "deleted") deleted.add(id);
    else if (state) states.set(id, state);
  });
  return { states, deleted };
}

async function query({ entities }: Operator, ids: readonly string[]): Promise<readonly EntityData[]> {
  const { data } = await entities.devices({
    ...{ pageSize: PAGE, page: 0, ids },
    sort: { key: { type: "ENTITY_FIELD", key: "name" }, direction: "ASC" },
    entityFields: [{ type: "ENTITY_FIELD", key: "name" }],
    latestValues: [
      ...[...SERIES, ...ACTIVITY].map((key) => ({ type: "TIME_SERIES", key }) as const),
      ...[...ACTIVITY, ROLLOUT_KEY].map((key) => ({ type: "SERVER_ATTRIBUTE", key }) as const),
      ...ASSIGNED.map((key) => ({ type: "SHARED_ATTRIBUTE", key }) as const),
      { type: "CLIENT_ATTRIBUTE", key: RECOVERY },
    ],
  });
  return data;
}

/** Undefined if the platform did not return it: refused, or no answer. */
async function readSingly(operator: Operator, id: string): Promise<DeviceState | "deleted" | undefined> {
  const { devices, attributes, timeSeries } = operator;
  try {
    if (!(await devices.find(id))) return "deleted";
    const series = await timeSeries.latest(id, [...SERIES, ...ACTIVITY]);
    const server = await attributes.latest(id, "SERVER_SCOPE", [...ACTIVITY, ROLLOUT_KEY]);
    const shared = await attributes.latest(id, "SHARED_SCOPE", ASSIGNED);
    const client = await attributes.latest(id, "CLIENT_SCOPE", [RECOVERY]);
    return stateOf({
      entityId: { entityType: "DEVICE", id },
      latest: {
        ...{ TIME_SERIES: latestOf(series), SERVER_ATTRIBUTE: latestOf(server) },
        ...{ SHARED_ATTRIBUTE: latestOf(shared), CLIENT_ATTRIBUTE: latestOf(client) },
      },
    });
  } catch (error) {
    const isUnproven =
      error instanceof OperatorError && (error.isTransient || error.status === 403 || error.status === 404);
    if (isUnproven) return undefined;
    throw error;
  }
}

/** Single reads in the form of a query's row, whose values are all text. */
function latestOf(readings: Record<string, Reading>): Record<string, { ts: number; value: string }> {
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(readings).map(([key, { ts, value }]) => [key, { ts, value: text(value) }]),
  );
}

function activityOf(latest: EntityData["latest"], key: (typeof ACTIVITY)[number]): string {
  return latest.SERVER_ATTRIBUTE?.[key]?.value || latest.TIME_SERIES?.[key]?.value || "";
}

function stateOf({ entityId, latest }: EntityData): DeviceState {
  const series = latest.TIME_SERIES ?? {};
  const shared = latest.SHARED_ATTRIBUTE ?? {};
  return {
    id: entityId.id,
    state: series.fw_state ?? { ts: 0, value: "" },
    error: series.fw_error?.value ?? "",
    title: series.current_fw_title?.value ?? "",
    version: series.current_fw_version?.value ?? "",
    checksum: series.current_fw_checksum?.value ?? "",
    assigned: {
      at: shared.fw_version?.ts ?? 0,
      version: shared.fw_version?.value ?? "",
      checksum: shared.fw_checksum?.value ?? "",
    },
    recovery: latest.CLIENT_ATTRIBUTE?.[RECOVERY]?.value ?? "",
    active: activityOf(latest, "active") === "true",
    heardAt: Number(activityOf(latest, "lastActivityTime")) || 0,
    silentAt: Number(activityOf(latest, "inactivityAlarmTime")) || 0,
    record: readRollout(latest.SERVER_ATTRIBUTE?.[ROLLOUT_KEY]?.value),
  };
}

/** A report cannot be so much newer than the last activity that the platform saw. */
const AHEAD_MS = 10 * 60_000;
const TOO_OLD = "updated before it was assigned, by its own clock";

export type Standing =
  /** The platform did not return the device's state. */
  | { readonly kind: "unknown" }
  /** `state` as reported, or `waiting` before any report. */
  | { readonly kind: "open"; readonly state: string }
  | { readonly kind: "offline"; readonly since: number }
  /** `since`: by the platform's clock. */
  | { readonly kind: "soaking"; readonly since: number }
  | { readonly kind: "passed" }
  /** It runs that version, and nothing tells whether it is this image. */
  | { readonly kind: "unproven"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string; readonly state?: string };

/**
 * Judges a device that has the image assigned; `record` is what this rollout noted about it. A name
 * and a version are no evidence: another image may have had them. A state is one only if it is
 * newer than the assignment: a queue may deliver older ones late.
 */
export function standingOf(
  seen: DeviceState | undefined,
  record: Pick<RolloutRecord, "updatedAt" | "passed"> | undefined,
  wanted: Image,
  soakMs: number,
): Standing {
  if (!seen) return { kind: "unknown" };
  const { state, error, active, heardAt, silentAt, recovery, assigned } = seen;
  const isTold =
    isSameText(assigned.version, wanted.version) &&
    (wanted.checksum === undefined || isSameChecksum(assigned.checksum, wanted.checksum));
  // A device whose clock is ahead: its state may be older than the assignment.
  const isAhead = state.ts > heardAt + AHEAD_MS;
  const isFresh = isTold && state.ts > assigned.at && !isAhead;
  if (state.value === "FAILED" && isFresh)
    return {
      kind: "failed",
      why: `${stateWord(state.value, error)}: ${error || "it gave no reason"}`,
      state: state.value,
    };
  const isNamed = isSameText(seen.title, wanted.title) && isSameText(seen.version, wanted.version);
  const runs = isNamed && isSameChecksum(seen.checksum, wanted.checksum);
  if (isNamed && recovery !== "") return { kind: "failed", why: `in recovery mode: ${recovery}` };
  if (!runs && (record?.passed || record?.updatedAt)) {
    // It reported its version before: an empty one is a gap in the answer.
    if (seen.title === "" && seen.version === "") return { kind: "unknown" };
    const other = isNamed
      ? `another image of ${seen.title} ${seen.version}`
      : `${seen.title} ${seen.version}`;
    return { kind: "failed", why: `it went back to ${other}` };
  }
  if (record?.passed) return { kind: "passed" };
  if (!active) return { kind: "offline", since: heardAt };
  const isUpdated = isNamed && isFresh && state.value === "UPDATED";
  if (isUpdated && (seen.checksum === "" || !wanted.checksum)) return { kind: "unproven", why: NO_CHECKSUM };
  if (isTold && runs && !isFresh && state.value === "UPDATED") return { kind: "open", state: TOO_OLD };
  if (!runs || !isUpdated) return { kind: "open", state: isFresh && state.value ? state.value : "waiting" };
  // A device that was away since then starts its soak again.
  const { updatedAt = 0 } = record ?? {};
  const since = updatedAt === 0 || silentAt > updatedAt ? heardAt : updatedAt;
  return heardAt >= since + soakMs ? { kind: "passed" } : { kind: "soaking", since };
}
