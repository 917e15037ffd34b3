// One device: what it sends, what is set for it, and what can be asked of it.
import { attributesPart } from "./attributes.js";
import { chartsPart } from "./charts.js";
import { claimingPart } from "./claiming.js";
import { ago, h } from "./dom.js";
import { firmwarePart } from "./firmware.js";
import type { Page, Part, Place } from "./page.js";
import { requestsPart } from "./requests.js";
import { rpcPart } from "./rpc.js";

const PARTS = [chartsPart, attributesPart, rpcPart, firmwarePart, claimingPart, requestsPart];

export function devicePage(id: string): Page {
  return (place, session) => {
    const ends: (() => void)[] = [];
    let left = false;
    void session.operator.devices.get(id).then((device) => {
      if (left) return;
      const title = head({ session, device });
      const parts = PARTS.map((part) => part({ session, device }));
      place.append(title.element, h("div", { className: "parts" }, ...parts.map(({ element }) => element)));
      ends.push(title.end, ...parts.map(({ end }) => end));
    });
    return () => {
      left = true;
      for (const end of ends) end();
    };
  };
}

/** Name, state and when it was last heard of. */
function head({ session, device }: Place): Part {
  const state = h("span", { className: "dot" });
  let lastSeen: number | undefined;
  const draw = (): void => {
    const active = lastSeen !== undefined && Date.now() - lastSeen < 600_000;
    state.className = active ? "dot on" : "dot";
    state.textContent =
      lastSeen === undefined ? "never seen" : `${active ? "active" : "inactive"}, ${ago(lastSeen)}`;
  };
  void session.operator.attributes.get(device.id.id, "SERVER_SCOPE", ["lastActivityTime"]).then((found) => {
    if (typeof found.lastActivityTime === "number") lastSeen ??= found.lastActivityTime;
    draw();
  });
  const end = session.on("request", ({ device: name, ts }) => {
    if (name === device.name) lastSeen = ts;
  });
  const timer = setInterval(draw, 1_000);
  return {
    element: h("div", { className: "head" }, h("h1", {}, device.name), state),
    end: () => {
      clearInterval(timer);
      end();
    },
  };
}
