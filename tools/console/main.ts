// Opens the page of the address, and keeps links and connection state.
import { devicePage } from "./device/device.js";
import { updatePage } from "./device/update.js";
import { devicesPage } from "./devices.js";
import { button, clearToasts, h, heading, messageOf, show as showChildren, showToast } from "./dom.js";
import { loginPage } from "./login.js";
import { routeOf } from "./model/routes.js";
import type { Page } from "./page.js";
import { Session } from "./session.js";
import { copyWhole } from "./table.js";
import { updatesPage } from "./updates.js";

const NO_TENANT = "This login is not a tenant administrator's: much of the console refuses it.";
const LIMITS: Readonly<Record<string, string | undefined>> = {
  CUSTOMER_USER:
    "A customer's login: it shows the customer's devices, without live values. Reload the page for new ones. Profiles, firmware, new devices and deletions need a tenant administrator.",
  SYS_ADMIN: "The system administrator's login: it has no devices. Log in as a tenant administrator.",
};

const session = new Session();
const place = document.getElementById("main") as HTMLElement;
const nav = document.querySelector("nav") as HTMLElement;
const out = button("Log out", () => end(), "plain");
document.getElementById("session")?.append(out);
let leave = (): void => {};

function pageOf(hash: string): Page {
  if (!session.isOpen) return loginPage(begin);
  const route = routeOf(hash);
  if (route.page === "device") return devicePage(route.id);
  if (route.page === "update") return updatePage(route.id);
  if (route.page === "updates") return updatesPage(route.query);
  return route.page === "devices" ? devicesPage(route.query) : unknownPage;
}

const unknownPage: Page = (where) => {
  const text = "The console has no page at this address. ";
  where.append(heading("Page not found"), h("p", {}, text, h("a", { href: "#/" }, "All devices")));
  return () => {};
};

/** `moved`: the operator went there, and continues reading at its heading. */
function show(moved: boolean): void {
  leave();
  place.replaceChildren();
  nav.replaceChildren(...(session.isOpen ? links() : []));
  out.hidden = !session.isOpen;
  leave = pageOf(location.hash)(place, session);
  if (session.isOpen && !session.isTenant)
    place.prepend(
      h("p", { className: "notice" }, `${LIMITS[session.operator.authority ?? ""] ?? NO_TENANT}`),
    );
  if (moved && session.isOpen) {
    place.querySelector("h1")?.focus();
    scrollTo(0, 0);
  }
}

function links(): Node[] {
  const at = routeOf(location.hash).page;
  const link = (href: string, text: string, pages: readonly string[]): HTMLElement =>
    h("a", { href, aria: pages.includes(at) ? { current: "page" } : {} }, text);
  return [link("#/", "Devices", ["devices", "device"]), link("#/updates", "Updates", ["updates", "update"])];
}

function begin(): void {
  clearToasts();
  void session.follow();
  show(true);
}

function end(): void {
  session.logout();
  clearToasts();
  show(true);
}

session.on("line", ({ up }) => {
  const line = document.getElementById("line");
  const state = up ? "live" : session.isTenant ? "disconnected" : "not live";
  if (line) showChildren(line, session.isOpen ? state : "");
});
addEventListener("hashchange", () => {
  // The link that skips to the content is not a page.
  if (location.hash !== "#main") show(true);
});
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
// A file dropped elsewhere would replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const { reason } = event;
  if (reason?.status === 401) {
    if (!session.isOpen) return;
    end();
    showToast("The session has ended. Log in again.", true);
  } else if (reason?.status !== 403 || session.isTenant) showToast(messageOf(reason), true);
});

if (session.isOpen) {
  void session.follow();
}
show(false);
