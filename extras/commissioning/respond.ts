// Answers requests to the page. Only a form of this page can change anything.
import type { Host } from "../../src/port.js";
import type { Commissioning, Entry } from "./commissioning.js";
import { readForm } from "./form.js";
import { notice, page, STYLE_HASH } from "./page.js";
import type { PageRequest } from "./request.js";
import { FIELDS, type Values } from "./values.js";

export interface PageContext {
  readonly commissioning: Commissioning;
  /** Name of the device, for people. */
  readonly name: string;
  /** The page's own name or address. All others lead here, so that a phone opens the page. */
  readonly own: string;
  /** CSRF token: random text that only the forms of this page contain. */
  readonly proof: string;
}

export interface Answer {
  readonly status: number;
  readonly location?: string;
  /** Cookie for a browser that has none. */
  readonly visit?: string;
  /** HTML. */
  readonly body: string;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  302: "Found",
  303: "See Other",
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  411: "Length Required",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
  503: "Service Unavailable",
};

const FORM = "application/x-www-form-urlencoded";
const OWN_SITES = ["same-origin", "none"];
const PROOF = "proof";
const RANDOM_BYTES = 16;
const VISIT = "visit=";
/** Maximum number of browsers with stored entries, because a certificate takes some kilobytes. */
const MOST_VISITS = 3;
const TRIMMED = ["url", "ca", "token", "key", "secret"];

/**
 * Lengths of the page's `proof` and a browser's `visit`. The host's random numbers must be secure
 * by now.
 */
export const makeProof = ({ random }: Pick<Host, "random">): string => {
  const bytes = new Uint8Array(RANDOM_BYTES);
  random(bytes);
  let proof = "";
  for (const byte of bytes) proof += byte.toString(16).padStart(2, "0");
  return proof;
};

/**
 * Entries by browser, identified by a secret cookie. Without cookies, everything must be entered at
 * once.
 */
export class Visits {
  private readonly _commissioning: Commissioning;
  private readonly _host: Pick<Host, "random">;
  /** Latest last. */
  private readonly _known: { readonly id: string; readonly entry: Entry }[] = [];

  constructor(commissioning: Commissioning, host: Pick<Host, "random">) {
    this._commissioning = commissioning;
    this._host = host;
  }

  /** The entry of the browser with `cookie`; undefined if there is none or it is too old. */
  find(cookie: string): Entry | undefined {
    const sent = cookie.split(";").find((pair) => pair.trim().startsWith(VISIT));
    const id = sent?.trim().slice(VISIT.length) ?? "";
    return this._known.find((visit) => isSame(visit.id, id))?.entry;
  }

  begin(): { readonly id: string; readonly entry: Entry } {
    const visit = { id: makeProof(this._host), entry: this._commissioning.entry() };
    this._known.push(visit);
    if (this._known.length > MOST_VISITS) this._known.shift();
    return visit;
  }
}

export const respond = (request: PageRequest, context: PageContext, visits: Visits): Answer => {
  const { method, path, host, cookie } = request;
  // Another site that resolves to this address must not read or submit the page.
  if (host !== context.own) return toPage(context, 302);
  if (path !== "/") return method === "POST" ? refusal(404) : toPage(context, 302);
  if (method === "GET" || method === "HEAD") {
    const { view } = visits.find(cookie) ?? context.commissioning;
    return { status: 200, body: page(view, context.name, context.proof) };
  }
  if (method !== "POST") return refusal(405);
  return take(request, context, visits);
};

export const refusal = (status: number): Answer => ({ status, body: "" });

const take = (request: PageRequest, context: PageContext, visits: Visits): Answer => {
  const { origin, site, type, body, host, cookie } = request;
  if (type !== FORM) return refusal(415);
  if (origin !== undefined && origin !== `http://${host}`) return refusal(403);
  if (site !== undefined && !OWN_SITES.includes(site)) return refusal(403);
  const form = readForm(body, [PROOF, ...FIELDS]);
  if (!form) return refusal(400);
  if (!isSame(form[PROOF] ?? "", context.proof)) {
    return {
      status: 403,
      body: notice(context.name, "That page was from before a restart: nothing was changed."),
    };
  }
  const typed: Record<string, string> = {};
  for (const field of FIELDS) {
    const value = TRIMMED.includes(field) ? form[field]?.trim() : form[field];
    if (value) typed[field] = value;
  }
  // During a check there is nothing to enter, and the page says so.
  const known = visits.find(cookie);
  if (known) known.give(typed as Values);
  const visit = known ? undefined : visits.begin();
  visit?.entry.give(typed as Values);
  return { ...toPage(context, 303), ...(visit && { visit: visit.id }) };
};

const toPage = ({ own }: PageContext, status: number): Answer => ({
  status,
  location: `http://${own}/`,
  body: "",
});

/** Compares in constant time. */
const isSame = (one: string, other: string): boolean => {
  if (one.length !== other.length) return false;
  let differs = 0;
  for (let i = 0; i < one.length; i++) differs |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return differs === 0;
};

const HEADERS = [
  "Content-Type: text/html; charset=utf-8",
  "Cache-Control: no-store",
  "X-Content-Type-Options: nosniff",
  "X-Frame-Options: DENY",
  "Referrer-Policy: same-origin",
  `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "Connection: close",
].join("\r\n");

/** The head of the answer for a body of this many bytes. */
export const headOf = ({ status, location, visit }: Answer, bytes: number): string => {
  const to = location === undefined ? "" : `Location: ${location}\r\n`;
  const allow = status === 405 ? "Allow: GET, HEAD, POST\r\n" : "";
  const cookie =
    visit === undefined ? "" : `Set-Cookie: ${VISIT}${visit}; Path=/; HttpOnly; SameSite=Strict\r\n`;
  return `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}\r\n${HEADERS}\r\n${to}${cookie}${allow}Content-Length: ${bytes}\r\n\r\n`;
};
