import { OperatorError } from "../operator/error.js";
import type { DeviceInfo } from "../operator/shapes.js";
import { ago, field, h, section, table } from "./dom.js";
import type { Page } from "./page.js";
import type { Session } from "./session.js";

interface Seen {
  info: DeviceInfo;
  lastSeen: number | undefined;
}

const MOST = 100;
const AGAIN_MS = 1_000;

/** The list of devices: state, last seen, and a link to each. */
export const devicesPage: Page = (place, session) => {
  const search = h("input", { type: "search", placeholder: "part of a name" });
  const list = h("div", {});
  const note = h("p", { className: "quiet" });
  let seen: Seen[] = [];
  let reading = false;
  let again = false;

  const draw = (): void => {
    const rows = seen.map(({ info, lastSeen }) => [
      h("a", { href: `#/device/${info.id.id}` }, info.name),
      info.deviceProfileName ?? info.type ?? "",
      h("span", { className: info.active ? "dot on" : "dot" }, info.active ? "active" : "inactive"),
      lastSeen === undefined ? "never" : ago(lastSeen),
    ]);
    if (rows.length > 0) list.replaceChildren(table(["Device", "Profile", "State", "Last seen"], rows));
    else list.replaceChildren(h("p", {}, "No device yet. `npm start` has one, `mote run` adds one."));
  };
  const read = async (): Promise<void> => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      const { data, totalElements } = await session.operator.devices.infos({
        pageSize: MOST,
        textSearch: search.value,
      });
      seen = await Promise.all(data.map((info) => withLastSeen(session, info)));
      note.textContent = totalElements > MOST ? `${MOST} of ${totalElements}: search to see others.` : "";
      draw();
    } finally {
      reading = false;
    }
    if (again) {
      again = false;
      await read();
    }
  };

  search.oninput = () => void read();
  place.append(section("Devices", "card", field("Search", search), list, note));
  void read();
  const ends = [session.on("device", () => void read()), session.on("line", ({ up }) => up && void read())];
  // A request of a device is news of it, of which there may be many: it is looked at once a second.
  let stale = false;
  ends.push(
    session.on("request", () => {
      stale = true;
    }),
  );
  const timer = setInterval(() => {
    if (stale) void read();
    else draw();
    stale = false;
  }, AGAIN_MS);
  return () => {
    clearInterval(timer);
    for (const end of ends) end();
  };
};

async function withLastSeen({ operator }: Session, info: DeviceInfo): Promise<Seen> {
  const { lastActivityTime } = await operator.attributes
    .get(info.id.id, "SERVER_SCOPE", ["lastActivityTime"])
    .catch((error: unknown) => {
      // Deleted since the list was read: the list is read again for that, and the others are shown.
      if (error instanceof OperatorError && error.status === 404) return {} as Record<string, unknown>;
      throw error;
    });
  return { info, lastSeen: typeof lastActivityTime === "number" ? lastActivityTime : undefined };
}
