// Opens the page of the address, and reads and draws it every second.
import { render } from "lit-html";
import { OperatorError } from "../operator/error.js";
import { DevicePage } from "./device/device.js";
import { DevicesPage } from "./devices.js";
import { LoginPage } from "./login.js";
import { Session } from "./session.js";
import { type Context, html, messageOf, type Page, showToast } from "./ui.js";
import { UpdatesPage } from "./updates.js";

const READ_MS = 1_000;
const DEVICE = /^\/device\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
const NOTICES: Readonly<Record<string, string | undefined>> = {
  TENANT_ADMIN: "",
  CUSTOMER_USER:
    "A customer's login: it shows the customer's devices. Profiles, firmware, new devices and deletions need a tenant administrator.",
  SYS_ADMIN: "The system administrator's login: it has no devices. Log in as a tenant administrator.",
};
const NO_TENANT = "This login is not a tenant administrator's: much of the console refuses it.";

const session = new Session();
const context: Context = { session, refresh };
const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

let page = pageOf(location.hash);
let [isReading, isStale, isLive] = [false, false, false];
let lastProblem = "";

/** `#/device/7c5e…`, `#/?search=pump` */
function pageOf(hash: string): Page {
  if (!session.isOpen) return new LoginPage(context, () => show(true));
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  if (path === "" || path === "/") return new DevicesPage(context, new URLSearchParams(query));
  if (path === "/updates") return new UpdatesPage(context, new URLSearchParams(query));
  const [, id] = DEVICE.exec(path) ?? [];
  return id === undefined ? UNKNOWN : new DevicePage(context, id.toLowerCase());
}

const UNKNOWN: Page = {
  title: "Page not found",
  read: async () => {},
  view: () => html`<h1 tabindex="-1">Page not found</h1>
    <p>The console has no page at this address. <a href="#/">All devices</a></p>`,
};

/** `moved`: the operator went there, and continues reading at its heading. */
function show(moved: boolean): void {
  page = pageOf(location.hash);
  lastProblem = "";
  draw();
  refresh();
  if (!moved) return;
  document.querySelector("h1")?.focus();
  scrollTo(0, 0);
}

function draw(): void {
  const notice = session.isOpen ? (NOTICES[session.operator.authority ?? ""] ?? NO_TENANT) : "";
  document.title = page.title === "" ? "Mote console" : `${page.title} · Mote console`;
  render(html`<p class="notice" ?hidden=${notice === ""}>${notice}</p>${page.view()}`, element("main"));
  const link = (href: string, text: string, isHere: boolean) =>
    html`<a href=${href} aria-current=${isHere ? "page" : "false"}>${text}</a>`;
  const [isUpdates, isUnknown] = [page instanceof UpdatesPage, page === UNKNOWN];
  const links = html`${link("#/", "Devices", !isUpdates && !isUnknown)}${link("#/updates", "Updates", isUpdates)}`;
  render(session.isOpen ? links : html``, element("links"));
  render(session.isOpen ? (isLive ? "live" : "disconnected") : "", element("line"));
  render(
    session.isOpen ? html`<button class="plain" @click=${end}>Log out</button>` : html``,
    element("session"),
  );
  page.drawn?.();
}

function refresh(): void {
  isStale = true;
  if (!isReading) void read();
}

async function read(): Promise<void> {
  isReading = true;
  while (isStale) {
    isStale = false;
    const asked = page;
    try {
      await asked.read();
      isLive = true;
    } catch (error) {
      if (page === asked) explain(error);
    }
    if (page === asked) draw();
    else isStale = true;
  }
  isReading = false;
}

function explain(error: unknown): void {
  const status = error instanceof OperatorError ? error.status : undefined;
  if (status === 401) {
    end();
    showToast("The session has ended. Log in again.", true);
    return;
  }
  isLive = status !== 0;
  const problem = messageOf(error);
  // The next read would say it again.
  if (isLive && problem !== lastProblem) showToast(problem, true);
  lastProblem = problem;
}

function end(): void {
  session.logout();
  element("messages").replaceChildren();
  show(true);
}

addEventListener("hashchange", () => {
  // The link that skips to the content is not a page.
  if (location.hash !== "#main") show(true);
});
setInterval(() => session.isOpen && refresh(), READ_MS);
show(false);
