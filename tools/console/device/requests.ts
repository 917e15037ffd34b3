// The device's last requests, as the local platform saw them.
import { duration } from "../../duration.js";
import type { LoggedRequest } from "../../operator/shapes.js";
import { h, section } from "../dom.js";
import { clock } from "../model/format.js";
import { endAll, type Part, type Place } from "../page.js";
import { type Cell, Table } from "../table.js";

const KEPT = 50;
const COLUMNS = [
  { text: "Time", size: "middle" },
  { text: "Request" },
  { text: "Status", size: "small" },
  { text: "Took", size: "small" },
  { text: "Faults", size: "large" },
] as const;

export function requestsPart({ session, device }: Place): Part {
  const table = new Table(COLUMNS, { empty: "No requests yet.", label: "Requests of the device" });
  const list = h(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", aria: { label: "Requests, scrollable" } },
    table.element,
  );
  let entries: LoggedRequest[] = [];
  let stale = true;
  const take = (entry: LoggedRequest): void => {
    if (entry.device !== device.name) return;
    entries.unshift(entry);
    entries = entries.slice(0, KEPT);
    stale = true;
  };
  // Requests that arrived meanwhile are in both lists.
  session.operator.requests().then(
    (all) => {
      const isNew = (entry: LoggedRequest): boolean => !entries.some((known) => isSame(known, entry));
      const past = all.filter((entry) => entry.device === device.name && isNew(entry));
      entries = [...entries, ...past.reverse()].slice(0, KEPT);
      stale = true;
    },
    () => {},
  );
  const draw = (): void => {
    if (!stale) return;
    stale = false;
    table.show(entries.map((entry, i) => ({ id: String(i), cells: cellsOf(entry) })));
  };
  const end = session.on("request", take);
  const timer = setInterval(draw, 500);
  return {
    element: section(
      "Requests",
      "card wide",
      h("p", {}, "The last 50 requests of this device to the local platform."),
      list,
    ),
    end: endAll(() => clearInterval(timer), end),
  };
}

const isSame = (one: LoggedRequest, other: LoggedRequest): boolean =>
  one.ts === other.ts &&
  one.method === other.method &&
  one.path === other.path &&
  one.status === other.status &&
  one.durationMs === other.durationMs;

function cellsOf({ ts, method, path, status, durationMs, faults = [] }: LoggedRequest): Cell[] {
  const answer = status === 0 ? "no answer" : String(status);
  return [
    clock(ts, Date.now()),
    `${method} ${path.replace(/^\/api\/v1\/\*\*\*\//, "")}`,
    h("span", { className: isGood(status) ? "" : "bad" }, answer),
    duration(durationMs),
    faults.join(", "),
  ];
}

/** 408 is the answer to a poll without news. */
function isGood(status: number): boolean {
  return (status >= 200 && status < 300) || status === 408;
}
