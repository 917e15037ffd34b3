// Lists devices with their state and firmware by one entity query.
import type { DeviceQuery, KeyFilter } from "./entities.js";
import type { EntityData, EntityKey } from "./shapes.js";

export interface DeviceFilter {
  /** Part of the name, in any case. */
  search?: string | undefined;
  /** Exact name of the profile. */
  profile?: string | undefined;
  active?: boolean | undefined;
}

export interface ListedDevice {
  id: string;
  name: string;
  profile: string;
  isActive: boolean;
  /** In milliseconds since 1970; undefined if the device never connected. */
  lastSeen: number | undefined;
  /** As the device reported; empty if it did not. */
  firmware: { title: string; version: string; state: string };
}

const field = (key: string): EntityKey => ({ type: "ENTITY_FIELD", key });
const reported = (key: string): EntityKey => ({ type: "TIME_SERIES", key });
const ACTIVE: EntityKey = { type: "SERVER_ATTRIBUTE", key: "active" };
const SEEN: EntityKey = { type: "SERVER_ATTRIBUTE", key: "lastActivityTime" };
const FIRMWARE = ["current_fw_title", "current_fw_version", "fw_state"].map(reported);

export const SORT_KEYS = {
  ...{ state: ACTIVE, name: field("name"), profile: field("type") },
  ...{ seen: SEEN, created: field("createdTime") },
};

const matches = (key: EntityKey, operation: "EQUAL" | "CONTAINS", text: string): KeyFilter => {
  const value = { defaultValue: text };
  const predicate = { type: "STRING", operation, value, ignoreCase: operation === "CONTAINS" } as const;
  return { key, valueType: "STRING", predicate };
};

/** The query for one page, from 0. */
export function deviceQuery(
  { search, profile, active }: DeviceFilter,
  { page, pageSize, sort }: Pick<DeviceQuery, "page" | "pageSize" | "sort">,
): DeviceQuery {
  const keyFilters: KeyFilter[] = [];
  if (search) keyFilters.push(matches(field("name"), "CONTAINS", search));
  if (profile !== undefined) keyFilters.push(matches(field("type"), "EQUAL", profile));
  if (active !== undefined) {
    const predicate = { type: "BOOLEAN", operation: "EQUAL", value: { defaultValue: active } } as const;
    keyFilters.push({ key: ACTIVE, valueType: "BOOLEAN", predicate });
  }
  const entityFields = [field("name"), field("type")];
  const latestValues = [ACTIVE, SEEN, ...FIRMWARE];
  return { page, pageSize, entityFields, latestValues, keyFilters, ...(sort && { sort }) };
}

export function listedDevice({ entityId, latest }: EntityData): ListedDevice {
  const { name, type } = latest.ENTITY_FIELD ?? {};
  const { active, lastActivityTime } = latest.SERVER_ATTRIBUTE ?? {};
  const { current_fw_title: title, current_fw_version: version, fw_state: state } = latest.TIME_SERIES ?? {};
  const seen = Number(lastActivityTime?.value || Number.NaN);
  return {
    id: entityId.id,
    name: name?.value ?? "",
    profile: type?.value ?? "",
    isActive: active?.value === "true",
    lastSeen: Number.isFinite(seen) ? seen : undefined,
    firmware: { title: title?.value ?? "", version: version?.value ?? "", state: state?.value ?? "" },
  };
}
