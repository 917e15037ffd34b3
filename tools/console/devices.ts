import { button, field, h, heading, option } from "./dom.js";
import {
  type DeviceList,
  emptyText,
  type ListedDevice,
  listedDevice,
  listOf,
  platformQuery,
  queryOf,
  SORTS,
  STATES,
} from "./model/device-list.js";
import { ago, counted } from "./model/format.js";
import { deviceHref } from "./model/routes.js";
import { type Page, single } from "./page.js";
import { Pager } from "./pager.js";
import type { Session } from "./session.js";
import { type Row, Table } from "./table.js";

const AGAIN_MS = 1_000;
const COLUMNS: readonly { text: string; sort?: DeviceList["sort"]; size?: "small" | "middle" | "large" }[] = [
  { text: "Device", sort: "name" },
  { text: "Profile", sort: "profile", size: "large" },
  { text: "State", sort: "state", size: "small" },
  { text: "Last seen", sort: "seen", size: "middle" },
  { text: "", size: "small" },
];

const SORT_NAMES: Record<DeviceList["sort"], string> = {
  ...{ state: "live ones first", name: "name", profile: "profile" },
  ...{ seen: "last seen", created: "newest first" },
};
/** Names from A on; these from the live, the latest and the newest on. */
const FALLING: readonly DeviceList["sort"][] = ["state", "seen", "created"];

/** The list of devices, by pages: state, last seen, and a link to each. */
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
      // The address follows, so that a reload and the way back lead here again.
      history.replaceState(null, "", text === "" ? "#/" : `#/?${text}`);
      read();
    };
    // A phone has no heads to press.
    const sort = h("select", {}, ...SORTS.map((name) => option(name, SORT_NAMES[name])));
    sort.onchange = () => {
      const by = sort.value as DeviceList["sort"];
      change({ sort: by, descending: FALLING.includes(by) });
    };
    const heads = COLUMNS.map(({ text, sort }) => sort && sortButton(text, sort, list, change));
    const table = new Table(COLUMNS, { empty: "", label: "Devices", heads });
    const pager = new Pager((page) => change({ page }));
    let shown: ListedDevice[] = [];
    const draw = (): void => {
      table.show(shown.map((device) => rowOf(session, device)));
      table.heads.forEach((head, i) => {
        const is = COLUMNS[i]?.sort === list.sort;
        head.ariaSort = is ? (list.descending ? "descending" : "ascending") : "none";
      });
    };
    const read = single(async () => {
      const asked = { ...list };
      const { data, totalElements, totalPages } = await session.operator.entities.devices(
        platformQuery(asked),
      );
      // The last of its page was deleted.
      if (data.length === 0 && asked.page > 0 && totalElements > 0) return change({ page: totalPages - 1 });
      shown = data.map(listedDevice);
      sort.value = asked.sort;
      table.empty = emptyText(asked);
      count.textContent = totalElements === 0 ? "" : counted(totalElements, "device");
      pager.show(asked.page, totalPages);
      draw();
    });
    search.oninput = () => change({ search: search.value });
    state.onchange = () => change({ state: state.value as DeviceList["state"] });
    place.append(
      h("div", { className: "head" }, heading("Devices"), count),
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
    // A request of a device is news of it, of which there may be many: it is looked at once a second.
    let stale = false;
    const ends = [
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
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  };
}

function sortButton(
  text: string,
  sort: DeviceList["sort"],
  list: DeviceList,
  change: (changes: Partial<DeviceList>) => void,
): HTMLButtonElement {
  // The second press turns it round.
  const first = FALLING.includes(sort);
  const press = (): void => change({ sort, descending: list.sort === sort ? !list.descending : first });
  return button(text, press, "sort");
}

function rowOf({ deletions }: Session, { id, name, profile, isActive, lastSeen }: ListedDevice): Row {
  const path = devicePath(id);
  const going = deletions.has(path);
  const state = going ? "deleting" : isActive ? "active" : "inactive";
  const link = (): Node => h("a", { className: "cut", href: deviceHref(id), title: name }, name);
  const dot = (): Node => h("span", { className: isActive && !going ? "dot on" : "dot" }, state);
  const remove = (): Node => {
    const it = button(
      "Delete",
      () => deletions.ask({ path, name: `device ${name}` }, DELETE_DEVICE),
      "plain",
    );
    it.ariaLabel = `Delete ${name}`;
    return going ? h("span", { className: "quiet" }, "going") : it;
  };
  return {
    id,
    cells: [
      { is: name, make: link },
      profile,
      { is: state, make: dot },
      lastSeen === undefined ? "never" : ago(lastSeen, Date.now()),
      { is: `${going}${name}`, make: remove },
    ],
  };
}

export const devicePath = (id: string): string => `/api/device/${encodeURIComponent(id)}`;
export const DELETE_DEVICE =
  "Its attributes, its telemetry and its access token go with it. A device that is still running is refused from then on. For ten seconds it can be undone.";
