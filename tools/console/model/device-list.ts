// The list of devices: its address and its query to the platform.
import { deviceQuery, type ListedDevice, SORT_KEYS } from "../../operator/device-list.js";
import type { DeviceQuery } from "../../operator/entities.js";
import type { Reading } from "../../operator/shapes.js";
import { isMoment } from "./series.js";

export const PAGE_SIZE = 25;
export const STATES = ["all", "active", "inactive"] as const;
export const SORTS = ["state", "name", "profile", "seen", "created"] as const;

export interface DeviceList {
  search: string;
  state: (typeof STATES)[number];
  sort: (typeof SORTS)[number];
  descending: boolean;
  /** From 0. */
  page: number;
}

/** Active devices first. */
const FIRST: DeviceList = { search: "", state: "all", sort: "state", descending: true, page: 0 };

/** `search=pump&state=active&sort=-seen&page=2`: absent and invalid values get their defaults. */
export function listOf(query: URLSearchParams): DeviceList {
  const text = query.get("sort") ?? "";
  const sort = SORTS.find((name) => name === text.replace(/^-/, ""));
  const page = Number(query.get("page") ?? "1");
  return {
    search: query.get("search") ?? "",
    state: STATES.find((name) => name === query.get("state")) ?? FIRST.state,
    sort: sort ?? FIRST.sort,
    descending: sort ? text.startsWith("-") : FIRST.descending,
    page: Number.isInteger(page) && page >= 1 && page < 1e6 ? page - 1 : 0,
  };
}

export function queryOf({ search, state, sort, descending, page }: DeviceList): URLSearchParams {
  const query = new URLSearchParams();
  if (search !== "") query.set("search", search);
  if (state !== FIRST.state) query.set("state", state);
  if (sort !== FIRST.sort || descending !== FIRST.descending)
    query.set("sort", `${descending ? "-" : ""}${sort}`);
  if (page > 0) query.set("page", String(page + 1));
  return query;
}

export function platformQuery({ search, state, sort, descending, page }: DeviceList): DeviceQuery {
  const active = state === "all" ? undefined : state === "active";
  const order = { key: SORT_KEYS[sort], direction: descending ? "DESC" : "ASC" } as const;
  return deviceQuery({ search, active }, { page, pageSize: PAGE_SIZE, sort: order });
}

/** The version first: a narrow column truncates the title. */
export function firmwareText({ title, version }: ListedDevice["firmware"]): string {
  if (version === "" || title === "") return version || title;
  return `${version} (${title})`;
}

export interface LastValue extends Reading {
  key: string;
}

/** The newest measurement, except update states and times. Of several, the first by name. */
export function lastValueOf(readings: Readonly<Record<string, Reading>>): LastValue | undefined {
  let last: LastValue | undefined;
  for (const [key, { ts, value }] of Object.entries(readings).sort(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const isOther =
      /^(?:current_|target_)?[fs]w_/.test(key) || (typeof value === "number" && isMoment(key, value));
    if (!isOther && (last === undefined || ts > last.ts)) last = { key, ts, value };
  }
  return last;
}

/** The text of an empty list. */
export function emptyText(
  { search, state }: Pick<DeviceList, "search" | "state">,
  isTenant: boolean,
): string {
  if (search !== "") return `No ${state === "all" ? "" : `${state} `}device has “${search}” in its name.`;
  if (state === "active") return "No device was active in the last ten minutes.";
  if (state === "inactive") return "Every device was active in the last ten minutes.";
  return isTenant
    ? "No device yet. Add one here; the page of the device has the command that runs it."
    : "This customer has no device. A tenant administrator assigns devices, or a user claims them.";
}
