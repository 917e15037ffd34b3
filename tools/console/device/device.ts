// One device: telemetry, attributes, RPC, firmware, log, requests.

import { ago } from "../../duration.js";
import { OperatorError } from "../../operator/error.js";
import type { Device } from "../../operator/shapes.js";
import { showAccess } from "../access.js";
import { DELETE_DEVICE, devicePath } from "../devices.js";
import {
  attempt,
  button,
  dialog,
  field,
  form,
  h,
  heading,
  setHeading,
  show as showChildren,
} from "../dom.js";
import { endAll, type Page, type Part, type Place, unlessGone } from "../page.js";
import { attributesPart } from "./attributes.js";
import { chartsPart } from "./charts.js";
import { firmwarePart } from "./firmware.js";
import { logPart } from "./log.js";
import { requestsPart } from "./requests.js";
import { rpcPart } from "./rpc.js";

const PARTS = {
  Telemetry: chartsPart,
  Attributes: attributesPart,
  RPC: rpcPart,
  Log: logPart,
  Firmware: firmwarePart,
  Requests: requestsPart,
} as const;
type Name = keyof typeof PARTS;
const TENANT_ONLY: readonly Name[] = ["Firmware", "Requests"];
const NO_DEVICE = "The device was deleted, or the platform was restarted without its state. ";
/** The section that a phone shows, also of the next device. */
let chosen: Name = "Telemetry";

export function devicePage(id: string): Page {
  return withDevice(id, (title, where) => {
    const state = stateOf(where);
    const remove = deleteButton(where);
    const { isTenant } = where.session;
    const connect = button("Connect", () => showAccess(where.session, where.device), "second");
    const label = labelOf(where);
    const parts = Object.entries(PARTS)
      .filter(([name]) => isTenant || !TENANT_ONLY.includes(name as Name))
      .map(([name, part]) => ({ name: name as Name, ...part(where) }));
    // The narrow sections fill two or three columns between the two wide ones.
    const [telemetry, ...rest] = parts.map(({ element }) => element);
    const requests = isTenant ? rest.pop() : undefined;
    const all = h(
      "div",
      { className: "parts" },
      telemetry,
      h("div", { className: "columns" }, ...rest),
      requests,
    );
    const tabs = sectionTabs(parts);
    const head = h(
      "div",
      { className: "head" },
      title,
      label.shown,
      state.element,
      h("span", { className: "buttons" }, ...(isTenant ? [label.edit, connect, remove.element] : [])),
    );
    const ends = [state.end, remove.end, ...parts.map(({ end }) => end)];
    return {
      element: h("div", {}, head, tabs, all),
      end: endAll(...ends),
    };
  });
}

/** A page about a device, once it is read; a text if the device does not exist, or not any more. */
export function withDevice(id: string, page: (title: HTMLHeadingElement, where: Place) => Part): Page {
  return (place, session) => {
    const title = heading("Device");
    place.append(title);
    let end = (): void => {};
    let left = false;
    const show = (text: string, fill: () => readonly Node[]): void => {
      const isFocused = document.activeElement === title;
      setHeading(title, text);
      place.replaceChildren(...fill());
      // Moving the heading took its focus.
      if (isFocused) title.focus();
    };
    const open = (device: Device): void => {
      if (left) return;
      show(device.name, () => {
        const part = page(title, { session, device });
        end = part.end;
        return [part.element];
      });
    };
    const handleMissing = (error: unknown): void => {
      if (!(error instanceof OperatorError) || ![400, 404].includes(error.status)) throw error;
      if (left) return;
      end();
      end = () => {};
      const text = h("p", {}, NO_DEVICE, h("a", { href: "#/" }, "All devices"));
      show("Device not found", () => [title, text]);
    };
    void session.operator.devices.get(id).then(open).catch(handleMissing);
    const check = (): void => void session.operator.devices.get(id).catch(handleMissing);
    const ends = [
      session.on("device", ({ deviceId }) => deviceId === id && check()),
      session.on("line", ({ up }) => up && check()),
    ];
    return () => {
      left = true;
      end();
      for (const one of ends) one();
    };
  };
}

/** Links to the sections. A phone shows one section at a time. */
function sectionTabs(parts: readonly { name: Name; element: HTMLElement }[]): HTMLElement {
  const buttons = parts.map(({ name, element }) => button(name, () => open(name, element), "tab"));
  const open = (name: Name, element: HTMLElement): void => {
    choose(name);
    element.scrollIntoView({ block: "nearest" });
  };
  const choose = (name: Name): void => {
    chosen = name;
    parts.forEach((part, i) => {
      part.element.classList.toggle("chosen", part.name === name);
      const tab = buttons[i];
      if (tab) tab.ariaCurrent = part.name === name ? "true" : "false";
    });
  };
  choose(chosen);
  return h("nav", { className: "tabs", aria: { label: "Sections" } }, ...buttons);
}

/** The device's label, and a button that changes it. */
function labelOf({ session, device }: Place): { shown: HTMLElement; edit: HTMLElement } {
  const textOf = ({ label }: Device): string => (typeof label === "string" ? label : "");
  const shown = h("span", { className: "quiet" }, textOf(device));
  const edit = button(
    "Edit label",
    () => {
      const input = h("input", { value: shown.textContent ?? "", maxLength: 255, autocomplete: "off" });
      const save = (): Promise<boolean> =>
        attempt(async () => {
          const { devices } = session.operator;
          const saved = await devices.save({ ...(await devices.get(device.id.id)), label: input.value });
          shown.textContent = textOf(saved);
          place.close();
        });
      const place = dialog(
        `Label of ${device.name}`,
        form(
          { label: "Label" },
          save,
          field("Label", input, "grow"),
          h("button", { type: "submit" }, "Save"),
          button("Cancel", () => place.close(), "second"),
        ),
      );
      input.focus();
    },
    "second",
  );
  return { shown, edit };
}

/** Whether the device is active, and when the platform last heard from it. */
function stateOf({ session, device }: Place): Part {
  const element = h("span", { className: "dot" });
  let lastSeen: number | undefined;
  const draw = (): void => {
    const now = Date.now();
    const active = lastSeen !== undefined && now - lastSeen < 600_000;
    element.className = active ? "dot on" : "dot";
    const text =
      lastSeen === undefined ? "never seen" : `${active ? "active" : "inactive"}, ${ago(lastSeen, now)}`;
    showChildren(element, text);
  };
  const read = async (): Promise<void> => {
    const found = await session.operator.attributes.get(device.id.id, "SERVER_SCOPE", ["lastActivityTime"]);
    if (typeof found.lastActivityTime === "number") lastSeen ??= found.lastActivityTime;
    draw();
  };
  void read().catch(unlessGone);
  const end = session.on("request", ({ device: name, ts }) => {
    if (name === device.name) lastSeen = ts;
  });
  const timer = setInterval(draw, 1_000);
  return {
    element,
    end: endAll(() => clearInterval(timer), end),
  };
}

function deleteButton({ session, device }: Place): Part {
  const path = devicePath(device.id.id);
  const deletion = { path, name: `device ${device.name}` };
  const remove = button("Delete device", () => session.deletions.ask(deletion, DELETE_DEVICE), "second");
  const draw = (): void => {
    remove.disabled = session.deletions.has(path);
  };
  draw();
  return { element: remove, end: session.deletions.on(draw) };
}
