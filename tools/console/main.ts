// Opens the page that the address names, gives it the focus, and keeps what all pages share: the links, the line to the platform.
import { devicePage } from "./device/device.js";
import { updatePage } from "./device/update.js";
import { devicesPage } from "./devices.js";
import { h, heading, hush, messageOf, tell } from "./dom.js";
import { faultsPage } from "./faults.js";
import { loginPage } from "./login.js";
import { routeOf } from "./model/routes.js";
import type { Page } from "./page.js";
import { Session } from "./session.js";
import { copyWhole } from "./table.js";
import { updatesPage } from "./updates.js";

const session = new Session();
const place = document.getElementById("main") as HTMLElement;
const nav = document.querySelector("nav") as HTMLElement;
let leave = (): void => {};

function pageOf(hash: string): Page {
  if (!session.isOpen) return loginPage(begin);
  const route = routeOf(hash);
  if (route.page === "device") return devicePage(route.id);
  if (route.page === "update") return updatePage(route.id);
  if (route.page === "updates") return updatesPage(route.query);
  if (route.page === "faults") return faultsPage;
  return route.page === "devices" ? devicesPage(route.query) : unknownPage;
}

const unknownPage: Page = (where) => {
  const text = "The console has no such page. ";
  where.append(heading("No such page"), h("p", {}, text, h("a", { href: "#/" }, "The devices")));
  return () => {};
};

/** `moved`: somebody went there, and reads on from its heading. */
function show(moved: boolean): void {
  leave();
  place.replaceChildren();
  nav.replaceChildren(...(session.isOpen ? links() : []));
  leave = pageOf(location.hash)(place, session);
  if (moved && session.isOpen) {
    place.querySelector("h1")?.focus();
    scrollTo(0, 0);
  }
}

function links(): Node[] {
  const at = routeOf(location.hash).page;
  const link = (href: string, text: string, pages: readonly string[]): HTMLElement =>
    h("a", { href, aria: pages.includes(at) ? { current: "page" } : {} }, text);
  const out = h("button", { type: "button", className: "plain", onclick: () => end() }, "Log out");
  return [
    link("#/", "Devices", ["devices", "device"]),
    link("#/updates", "Updates", ["updates", "update"]),
    link("#/faults", "Faults", ["faults"]),
    out,
  ];
}

function begin(): void {
  // What was said to who was not logged in is over.
  hush();
  void session.follow();
  show(true);
}

function end(): void {
  session.logout();
  hush();
  show(true);
}

session.on("line", ({ up }) => {
  const line = document.getElementById("line");
  if (line) line.textContent = session.isOpen ? (up ? "live" : "no line to the platform") : "";
});
addEventListener("hashchange", () => {
  // The link that skips to the content is no page.
  if (location.hash !== "#main") show(true);
});
// What waits to be deleted is sent, whoever closes the page or loads it again.
addEventListener("pagehide", () => void session.deletions.flush(true));
addEventListener("copy", copyWhole);
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement | null;
  if (event.key !== "/" || event.ctrlKey || event.metaKey || target?.closest("input, textarea, select"))
    return;
  const search = place.querySelector<HTMLInputElement>("input[type=search]");
  if (!search) return;
  event.preventDefault();
  search.focus();
});
// A file that is dropped beside its place would replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const { reason } = event;
  if (reason?.status === 401) {
    if (!session.isOpen) return;
    end();
    tell("The session has ended: log in again.", true);
  } else tell(messageOf(reason), true);
});

if (session.isOpen) {
  void session.follow();
}
show(false);
