// What a request to the page gets. No request but a form of this very page changes anything.
import type { Host } from "../../../src/port.js";
import type { Commissioning } from "./commissioning.js";
import { readForm } from "./form.js";
import { notice, page, STYLE_HASH } from "./page.js";
import type { PageRequest } from "./request.js";
import { FIELDS, type Values } from "./values.js";

export interface PageContext {
  readonly commissioning: Commissioning;
  /** Of the device, for people. */
  readonly name: string;
  /** What the page may be asked for as, each a `Host` in lower case; the first is its own name. */
  readonly hosts: readonly string[];
  /** Every other name is led here, so that a phone that looks for the internet shows the page. Else it is refused. */
  readonly isPortal: boolean;
  /** Letters that no other page can know. */
  readonly proof: string;
}

export interface Answer {
  readonly status: number;
  readonly location?: string;
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
};

const FORM = "application/x-www-form-urlencoded";
const OWN_SITES = ["same-origin", "none"];
const PROOF = "proof";
const PROOF_BYTES = 16;
const TRIMMED = ["url", "ca", "token", "key", "secret"];

/** `proof` of a page. Of a host whose numbers are random by now. */
export const makeProof = ({ random }: Pick<Host, "random">): string => {
  const bytes = new Uint8Array(PROOF_BYTES);
  random(bytes);
  let proof = "";
  for (const byte of bytes) proof += byte.toString(16).padStart(2, "0");
  return proof;
};

export const respond = (request: PageRequest, context: PageContext): Answer => {
  const { method, path, host } = request;
  // A name elsewhere that was made to lead here must neither read the page nor fill it in.
  if (!context.hosts.includes(host)) return context.isPortal ? toPage(context, 302) : refusal(403);
  if (path !== "/") return context.isPortal && method !== "POST" ? toPage(context, 302) : refusal(404);
  if (method === "GET" || method === "HEAD")
    return { status: 200, body: page(context.commissioning.view, context.name, context.proof) };
  if (method !== "POST") return refusal(405);
  return take(request, context);
};

export const refusal = (status: number): Answer => ({ status, body: "" });

const take = ({ origin, site, type, body, host }: PageRequest, context: PageContext): Answer => {
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
  // While it checks there is nothing to fill in: the page says so.
  context.commissioning.give(typed as Values);
  return toPage(context, 303);
};

const toPage = ({ hosts }: PageContext, status: number): Answer => ({
  status,
  location: `http://${hosts[0]}/`,
  body: "",
});

/** In a time that does not show how much of it is right. */
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

/** The answer's head, for a body of so many bytes. */
export const headOf = ({ status, location }: Answer, bytes: number): string => {
  const to = location === undefined ? "" : `Location: ${location}\r\n`;
  const allow = status === 405 ? "Allow: GET, HEAD, POST\r\n" : "";
  return `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}\r\n${HEADERS}\r\n${to}${allow}Content-Length: ${bytes}\r\n\r\n`;
};
