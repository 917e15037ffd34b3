// The console's pages by the part of the address behind `#`: the devices, one device, the fault switchboard.

import { devicePage } from "./device.js";
import { devicesPage } from "./devices.js";
import { h, tell } from "./dom.js";
import { faultsPage } from "./faults.js";
import { loginPage } from "./login.js";
import type { Page } from "./page.js";
import { Session } from "./session.js";

const session = new Session();
const place = document.getElementById("main") as HTMLElement;
const nav = document.querySelector("nav") as HTMLElement;
let leave = (): void => {};

function pageOf(path: string): Page {
  if (!session.isOpen) return loginPage(begin);
  const [, id] = /^#\/device\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (id !== undefined) return devicePage(id);
  return path === "#/faults" ? faultsPage : devicesPage;
}

function show(): void {
  leave();
  place.replaceChildren();
  nav.replaceChildren(...(session.isOpen ? links() : []));
  leave = pageOf(location.hash)(place, session);
}

function links(): Node[] {
  const link = (href: string, text: string): HTMLElement =>
    h("a", { href, aria: (location.hash || "#/") === href ? { current: "page" } : {} }, text);
  const out = h("button", { type: "button", className: "plain", onclick: () => end() }, "Log out");
  return [link("#/", "Devices"), link("#/faults", "Faults"), out];
}

function begin(): void {
  void session.follow();
  show();
}

function end(): void {
  session.logout();
  show();
}

session.on("line", ({ up }) => {
  const line = document.getElementById("line");
  if (line) line.textContent = session.isOpen ? (up ? "live" : "no line to the platform") : "";
});
addEventListener("hashchange", () => {
  // The link that skips to the content is no page.
  if (location.hash !== "#main") show();
});
// A file that is dropped beside its place would replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const { reason } = event;
  if (reason?.status === 401) {
    end();
    tell("The session has ended: log in again.", true);
  } else tell(reason instanceof Error ? reason.message : String(reason), true);
});

if (session.isOpen) begin();
else show();
