import type { LoggedRequest } from "../../operator/shapes.js";
import { type Json, jsonText } from "../core/json/json.js";
import { parseJson } from "../core/json/json-reader.js";

const KEPT = 1_000;
const EXCERPT = 200;
const SECRETS = new Set([
  ...["provisionDeviceSecret", "provisionDeviceKey", "secretKey", "token", "credentialsValue"],
  ...["password", "hash"],
]);
/** Bodies of these are shown only if they could be read. */
const GUARDED = /^\/api\/v1\/(?:provision|[^/]*\/claim)(?:$|\?)/;
const LARGEST_PARSED = 16_384;

/** What is made of a request when somebody looks. */
export interface Noted {
  readonly entry: Omit<LoggedRequest, "path" | "body" | "faults">;
  readonly url: string;
  /** As far as it is needed; nobody changes it. */
  readonly body: Uint8Array;
  readonly token: string | undefined;
  readonly faults: readonly string[] | undefined;
}

/** The last 1,000 requests of the device API, formatted when read. */
export class RequestLog {
  readonly #noted: Noted[] = [];
  #next = 0;

  add(noted: Noted): void {
    this.#noted[this.#next] = noted;
    this.#next = (this.#next + 1) % KEPT;
  }

  /** Oldest first. */
  list(): LoggedRequest[] {
    return [...this.#noted.slice(this.#next), ...this.#noted.slice(0, this.#next)].map(shown);
  }
}

/** As much of a body as is needed to show it. */
export const kept = (body: Uint8Array): Uint8Array =>
  body.length <= LARGEST_PARSED ? body : body.slice(0, EXCERPT * 4);

function shown({ entry, url, body, token, faults }: Noted): LoggedRequest {
  const { ts, method, device, status, durationMs } = entry;
  const text = excerpt(url, body, token);
  const all = { ts, method, path: hidePath(url), device, status, durationMs, body: text };
  return faults ? { ...all, faults } : all;
}

// `/api/v1/TOKEN/rpc?timeout=1`: the token becomes `***`.
function hidePath(url: string): string {
  const shown = url.slice(0, 500);
  return shown.replace(/^(\/api\/v1\/)(?!provision(?:$|\?))[^/?]*/, "$1***");
}

/** The beginning of a body, without what must not be seen. */
function excerpt(url: string, body: Uint8Array, token: string | undefined): string {
  const text = shownText(url, body);
  const hidden = token ? text.replaceAll(token, "***") : text;
  return Buffer.from(hidden).subarray(0, EXCERPT).toString("utf8");
}

function shownText(url: string, body: Uint8Array): string {
  if (body.length <= LARGEST_PARSED) {
    try {
      return body.length === 0 ? "" : jsonText(hide(parseJson(Buffer.from(body).toString("utf8"))));
    } catch {
      // Not JSON: shown as it is, unless a secret is to be expected in it.
    }
  }
  return GUARDED.test(url) ? "(not shown)" : Buffer.from(body.subarray(0, EXCERPT * 4)).toString("utf8");
}

function hide(json: Json): Json {
  if (Array.isArray(json)) return json.map(hide);
  if (!(json instanceof Map)) return json;
  return new Map([...json].map(([key, member]) => [key, SECRETS.has(key) ? "***" : hide(member)]));
}
