// Where a device of a rollout stands, by what the platform knows of it.
import type { EntityData } from "../../operator/entities.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord, readRollout } from "../../operator/rollout-record.js";
import type { Version } from "../operator/updates.js";

const PAGE = 500;
const SERIES = ["fw_state", "fw_error", "current_fw_title", "current_fw_version"] as const;
/** Server attributes, or time series where the server is configured so. */
const ACTIVITY = ["active", "lastActivityTime", "inactivityAlarmTime"] as const;
const RECOVERY = "moteRecovery";

/** What the platform knows of a device. */
export interface Seen {
  readonly id: string;
  readonly state: { readonly ts: number; readonly value: string };
  readonly error: string;
  readonly title: string;
  readonly version: string;
  /** It is in recovery mode, and why; empty if it is not. */
  readonly recovery: string;
  readonly active: boolean;
  /** Milliseconds since 1970, by the platform's clock; 0: never. */
  readonly heardAt: number;
  readonly silentAt: number;
  readonly record: RolloutRecord | undefined;
}

/** All devices of a profile. */
export async function seeAll({ entities }: Operator, profileName: string): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (let page = 0; ; page++) {
    const { data, hasNext } = await entities.devices({
      ...{ pageSize: PAGE, page, profiles: [profileName] },
      sort: { key: { type: "ENTITY_FIELD", key: "name" }, direction: "ASC" },
      entityFields: [{ type: "ENTITY_FIELD", key: "name" }],
      latestValues: [
        ...[...SERIES, ...ACTIVITY].map((key) => ({ type: "TIME_SERIES", key }) as const),
        ...[...ACTIVITY, ROLLOUT_KEY].map((key) => ({ type: "SERVER_ATTRIBUTE", key }) as const),
        { type: "CLIENT_ATTRIBUTE", key: RECOVERY },
      ],
    });
    for (const one of data) seen.set(one.entityId.id, seenOf(one));
    if (!hasNext) return seen;
  }
}

function seenOf({ entityId, latest }: EntityData): Seen {
  const series = latest.TIME_SERIES ?? {};
  const server = latest.SERVER_ATTRIBUTE ?? {};
  const activity = (key: string): string => server[key]?.value || series[key]?.value || "";
  return {
    id: entityId.id,
    state: series.fw_state ?? { ts: 0, value: "" },
    error: series.fw_error?.value ?? "",
    title: series.current_fw_title?.value ?? "",
    version: series.current_fw_version?.value ?? "",
    recovery: latest.CLIENT_ATTRIBUTE?.[RECOVERY]?.value ?? "",
    active: activity("active") === "true",
    heardAt: Number(activity("lastActivityTime")) || 0,
    silentAt: Number(activity("inactivityAlarmTime")) || 0,
    record: readRollout(server[ROLLOUT_KEY]?.value),
  };
}

export type Standing =
  /** `state` as reported, or that nothing was. */
  | { readonly kind: "open"; readonly state: string }
  | { readonly kind: "offline"; readonly since: number }
  /** `since`: by the platform's clock. */
  | { readonly kind: "soaking"; readonly since: number }
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly why: string };

/** Of a device that has the image assigned; `record` is what this rollout noted of it. */
export function standingOf(
  seen: Seen,
  record: RolloutRecord | undefined,
  wanted: Version,
  soakMs: number,
): Standing {
  const { state, error, active, heardAt, silentAt, recovery } = seen;
  const isFresh = state.ts !== record?.seen;
  if (state.value === "FAILED" && isFresh)
    return { kind: "failed", why: `FAILED: ${error || "it gave no reason"}` };
  const runs = isSame(seen.title, wanted.title) && isSame(seen.version, wanted.version);
  if (runs && recovery !== "") return { kind: "failed", why: `in recovery mode: ${recovery}` };
  if (!runs && (record?.passed || record?.updatedAt))
    return { kind: "failed", why: `it went back to ${seen.title} ${seen.version}` };
  if (record?.passed) return { kind: "passed" };
  if (!active) return { kind: "offline", since: heardAt };
  if (!runs || state.value !== "UPDATED")
    return { kind: "open", state: isFresh && state.value ? state.value : "waiting" };
  // Whoever was away in between begins again.
  const { updatedAt = 0 } = record ?? {};
  const since = updatedAt === 0 || silentAt > updatedAt ? heardAt : updatedAt;
  return heardAt >= since + soakMs ? { kind: "passed" } : { kind: "soaking", since };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The platform makes a number of a text that looks like one: "2.0" is kept as 2. */
function isSame(kept: string, text: string): boolean {
  return kept === text || (NUMBER.test(kept) && NUMBER.test(text) && Number(kept) === Number(text));
}
