// The device's last requests, as the platform saw them.

import { clock, h, section, table } from "./dom.js";
import type { Part, Place } from "./page.js";
import { type LoggedRequest, own } from "./session.js";

const KEPT = 50;

export function requestsPart({ session, device }: Place): Part {
  const list = h("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label: "Requests" } });
  let entries: LoggedRequest[] = [];
  let stale = true;
  const take = (entry: LoggedRequest): void => {
    if (entry.device !== device.name) return;
    entries.unshift(entry);
    entries = entries.slice(0, KEPT);
    stale = true;
  };
  // From another machine there is no past, only what comes. What came meanwhile is in both.
  own("GET", "/api/requests").then(
    (all) => {
      const known = new Set(entries.map((entry) => JSON.stringify(entry)));
      const past = (all as LoggedRequest[]).filter(
        (entry) => entry.device === device.name && !known.has(JSON.stringify(entry)),
      );
      entries = [...entries, ...past.reverse()].slice(0, KEPT);
      stale = true;
    },
    () => {},
  );
  const draw = (): void => {
    if (!stale) return;
    stale = false;
    const rows = entries.map((entry) => [
      clock(entry.ts),
      h("code", {}, `${entry.method} ${entry.path.replace(/^\/api\/v1\/\*\*\*\//, "")}`),
      h(
        "span",
        { className: good(entry.status) ? "" : "bad" },
        entry.status === 0 ? "no answer" : String(entry.status),
      ),
      `${entry.durationMs} ms`,
      (entry.faults ?? []).join(", "),
    ]);
    list.replaceChildren(
      rows.length > 0 ? table(["Time", "Request", "Status", "Took", "Faults"], rows) : "none yet",
    );
  };
  const end = session.on("request", take);
  const timer = setInterval(draw, 500);
  return {
    element: section("Requests", "card wide", list),
    end: () => {
      clearInterval(timer);
      end();
    },
  };
}

/** 408 is how a poll ends that brought nothing. */
function good(status: number): boolean {
  return (status >= 200 && status < 300) || status === 408;
}
