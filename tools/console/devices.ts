import { ago } from "../duration.js";
import { type ListedDevice, listedDevice } from "../operator/device-list.js";
import { addDevice } from "./access.js";
import { button, field, h, heading, option, show } from "./dom.js";
import { LastValues } from "./last-values.js";
import {
  type DeviceList,
  emptyText,
  firmwareText,
  listOf,
  platformQuery,
  queryOf,
  SORTS,
  STATES,
} from "./model/device-list.js";
import { counted, readable } from "./model/format.js";
import { deviceHref } from "./model/routes.js";
import { coalesce, endAll, type Page } from "./page.js";
import { Pager } from "./pager.js";
import type { Session } from "./session.js";
import { type Row, Table } from "./table.js";

const AGAIN_MS = 1_000;
const COLUMNS: readonly { text: string; sort?: DeviceList["sort"]; size?: "small" | "middle" | "large" }[] = [
  { text: "Device", sort: "name" },
  { text: "Profile", sort: "profile", size: "middle" },
  { text: "Firmware", size: "large" },
  { text: "Last value", size: "large" },
  { text: "State", sort: "state", size: "small" },
  { text: "Last seen", sort: "seen", size: "middle" },
  { text: "", size: "small" },
];

const SORT_NAMES: Record<DeviceList["sort"], string> = {
  ...{ state: "active first", name: "name", profile: "profile" },
  ...{ seen: "last seen", created: "newest first" },
};
/** Sorted in descending order at first. */
const DESCENDING: readonly DeviceList["sort"][] = ["state", "seen", "created"];

/** The list of devices by pages: firmware, last value, state, last seen, and a link to each. */
export function devicesPage(query: URLSearchParams): Page {
  return (place, session) => {
    const list = listOf(query);
    const search = h("input", { type: "search", placeholder: "part of a name", value: list.search });
    const state = h("select", {}, ...STATES.map((name) => option(name)));
    state.value = list.state;
    const count = h("p", { className: "quiet", role: "status" });
    const change = (changes: Partial<DeviceList>): void => {
      Object.assign(list, { page: 0 }, changes);
      const text = queryOf(list).toString();
      // The address follows, so that a reload and the back button return here.
      history.replaceState(null, "", text === "" ? "#/" : `#/?${text}`);
      read();
    };
    // A phone shows no table header.
    const sort = h("select", {}, ...SORTS.map((name) => option(name, SORT_NAMES[name])));
    sort.onchange = () => {
      const by = sort.value as DeviceList["sort"];
      change({ sort: by, descending: DESCENDING.includes(by) });
    };
    const heads = COLUMNS.map(({ text, sort }) => sort && sortButton(text, sort, list, change));
    const table = new Table(COLUMNS, { label: "Devices", heads, className: "devices" });
    const pager = new Pager((page) => change({ page }));
    const values = new LastValues(session, () => draw());
    let shown: ListedDevice[] = [];
    const draw = (): void => {
      table.show(shown.map((device) => rowOf(session, device, values)));
      table.heads.forEach((head, i) => {
        const by = COLUMNS[i]?.sort;
        if (by !== undefined)
          head.ariaSort = by !== list.sort ? "none" : list.descending ? "descending" : "ascending";
      });
    };
    const read = coalesce(async () => {
      const asked = { ...list };
      const { data, totalElements, totalPages } = await session.operator.entities.devices(
        platformQuery(asked),
      );
      // The last device of its page was deleted.
      if (data.length === 0 && asked.page > 0 && totalElements > 0) return change({ page: totalPages - 1 });
      shown = data.map(listedDevice);
      sort.value = asked.sort;
      table.empty = emptyText(asked, session.isTenant);
      show(count, totalElements === 0 ? "" : counted(totalElements, "device"));
      pager.show(asked.page, totalPages);
      draw();
      values.read(shown.map(({ id }) => id));
    });
    search.oninput = () => change({ search: search.value });
    state.onchange = () => change({ state: state.value as DeviceList["state"] });
    const add = button("Add device", () => addDevice(session));
    place.append(
      h(
        "div",
        { className: "head" },
        heading("Devices"),
        count,
        h("span", { className: "buttons" }, session.isTenant ? add : ""),
      ),
      h(
        "section",
        { className: "card", aria: { label: "Devices" } },
        h(
          "div",
          { className: "row tools" },
          field("Search", search, "grow"),
          field("State", state, "short"),
          field("Sort by", sort, "short phone"),
        ),
        table.element,
        pager.element,
      ),
    );
    read();
    // Every request of a device changes the list, so it is read at most once a second.
    let stale = false;
    const ends = [
      () => values.end(),
      session.on("device", read),
      session.on("line", ({ up }) => up && read()),
      session.deletions.on(draw),
      session.on("request", () => {
        stale = true;
      }),
    ];
    const timer = setInterval(() => {
      if (stale) read();
      else draw();
      stale = false;
    }, AGAIN_MS);
    return endAll(() => clearInterval(timer), ...ends);
  };
}

function sortButton(
  text: string,
  sort: DeviceList["sort"],
  list: DeviceList,
  change: (changes: Partial<DeviceList>) => void,
): HTMLButtonElement {
  // The second press reverses the order.
  const first = DESCENDING.includes(sort);
  const press = (): void => change({ sort, descending: list.sort === sort ? !list.descending : first });
  return button(text, press, "sort");
}

function rowOf({ deletions, isTenant }: Session, device: ListedDevice, values: LastValues): Row {
  const { id, name, profile, firmware, isActive, lastSeen } = device;
  const path = devicePath(id);
  const installed = firmwareText(firmware);
  const isDeleting = deletions.has(path);
  const state = isDeleting ? "deleting" : isActive ? "active" : "inactive";
  const remove = button(
    "Delete",
    () => deletions.ask({ path, name: `device ${name}` }, DELETE_DEVICE),
    "plain",
  );
  remove.ariaLabel = `Delete ${name}`;
  const last = values.of(id);
  const lastText = last ? `${last.key} ${readable(last.key, last.value, Date.now())}` : "";
  return {
    id,
    cells: [
      h("a", { className: "cut", href: deviceHref(id), title: name }, name),
      h("span", { className: "cut", title: profile }, profile),
      h("span", { className: "cut", title: installed }, installed),
      h("span", { className: "cut", title: lastText }, lastText),
      h("span", { className: isActive && !isDeleting ? "dot on" : "dot" }, state),
      lastSeen === undefined ? "never" : ago(lastSeen),
      isDeleting ? h("span", { className: "quiet" }, "Deleting…") : isTenant ? remove : "",
    ],
  };
}

export const devicePath = (id: string): string => `/api/device/${encodeURIComponent(id)}`;
export const DELETE_DEVICE =
  "This deletes its attributes, telemetry and token. A running device loses access. You cannot undo this.";
