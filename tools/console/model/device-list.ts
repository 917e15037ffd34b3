// The list of devices: its address and its query to the platform.
import { deviceQuery, type ListedDevice, SORT_KEYS } from "../../operator/device-list.js";
import type { DeviceQuery } from "../../operator/entities.js";

export const PAGE_SIZE = 25;
export const STATES = ["all", "active", "inactive"] as const;
export const SORTS = ["state", "name", "profile", "seen", "created"] as const;

export interface DeviceList {
  search: string;
  state: (typeof STATES)[number];
  sort: (typeof SORTS)[number];
  /** From 0. */
  page: number;
}

/** Active devices first. */
const FIRST: DeviceList = { search: "", state: "all", sort: "state", page: 0 };

/** `search=pump&state=active&sort=seen&page=2`: absent and invalid values get their defaults. */
export function listOf(query: URLSearchParams): DeviceList {
  const page = Number(query.get("page") ?? "1");
  return {
    search: query.get("search") ?? "",
    state: STATES.find((name) => name === query.get("state")) ?? FIRST.state,
    sort: SORTS.find((name) => name === query.get("sort")) ?? FIRST.sort,
    page: Number.isInteger(page) && page >= 1 && page < 1e6 ? page - 1 : 0,
  };
}

export function queryOf({ search, state, sort, page }: DeviceList): URLSearchParams {
  const query = new URLSearchParams();
  if (search !== "") query.set("search", search);
  if (state !== FIRST.state) query.set("state", state);
  if (sort !== FIRST.sort) query.set("sort", sort);
  if (page > 0) query.set("page", String(page + 1));
  return query;
}

export function platformQuery({ search, state, sort, page }: DeviceList): DeviceQuery {
  const active = state === "all" ? undefined : state === "active";
  // Active, recent and new devices first.
  const direction = sort === "name" || sort === "profile" ? "ASC" : "DESC";
  return deviceQuery(
    { search, active },
    { page, pageSize: PAGE_SIZE, sort: { key: SORT_KEYS[sort], direction } },
  );
}

/** The version first: a narrow column truncates the title. */
export function firmwareText({ title, version }: ListedDevice["firmware"]): string {
  if (version === "" || title === "") return version || title;
  return `${version} (${title})`;
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
