// The options of a report client: what each is for, its unit, default and limits; all mistakes reported at once.

import { parseTarget, type Target } from "../http/target.js";
import { isMadeOf } from "../wire/text/characters.js";
import { ReportError } from "./errors.js";
import type { Session } from "./session.js";

export interface ReportOptions {
  /** Where reports are built: base URL of the analytics server. */
  url: string;
  /** Who asks. */
  session: Session;
  /** The path of the API below `url`; older servers have `/apiTrendz/publicApi`. Default `/apiAnalytics/publicApi`. */
  api?: string | undefined;
  /** How the JWT is sent: as the header `jwt`, as `X-Authorization: Bearer`, or as the query parameter `jwt`, which ends up in logs on the way. Default `header`. */
  jwtIn?: "header" | "bearer" | "query" | undefined;
  /** Bytes of one row, and of the list of labels, at most: 256 to 16 MiB. Default 16,384. It is also what a report takes in memory. */
  rowBytes?: number | undefined;
  /** An answer that has begun and then brings nothing for so long is given up, in ms: 100 and more. Default 60,000. */
  idleMs?: number | undefined;
}

/** The options with nothing left out. */
export interface CheckedReportOptions {
  readonly target: Target;
  readonly path: string;
  readonly jwtIn: "header" | "bearer" | "query";
  readonly rowBytes: number;
  readonly idleMs: number;
}

const API = "/apiAnalytics/publicApi";
const NAMES = ["url", "session", "api", "jwtIn", "rowBytes", "idleMs"];
const WAYS = ["header", "bearer", "query"];
const ROW_BYTES = { default: 16_384, least: 256, most: 16_777_216 } as const;
const IDLE_MS = { default: 60_000, least: 100, most: 86_400_000 } as const;

/** Throws `BAD_OPTIONS` with every mistake by name. No value is quoted. */
export const checkReportOptions = (options: ReportOptions): CheckedReportOptions => {
  const wrong = Object.keys(options)
    .filter((name) => !NAMES.includes(name))
    .map((name) => `there is no option "${name}"`);
  const { url, session, api = API, jwtIn = "header" } = options;
  const { rowBytes = ROW_BYTES.default, idleMs = IDLE_MS.default } = options;
  const parsed = parseTarget(url);
  if (!parsed.ok) wrong.push(`url ${parsed.reason}`);
  if (typeof session?.token !== "function") wrong.push("session is a Session");
  if (typeof api !== "string" || !isPath(api)) wrong.push("api is a path like /apiTrendz/publicApi");
  if (!WAYS.includes(jwtIn)) wrong.push("jwtIn is header, bearer or query");
  checkNumber("rowBytes", rowBytes, ROW_BYTES, wrong);
  checkNumber("idleMs", idleMs, IDLE_MS, wrong);
  if (wrong.length > 0 || !parsed.ok) throw new ReportError("BAD_OPTIONS", wrong.join("; "));
  return { target: parsed.target, path: `${api}/buildReport`, jwtIn, rowBytes, idleMs };
};

const isPath = (path: string): boolean =>
  path.startsWith("/") &&
  path
    .slice(1)
    .split("/")
    .every((segment) => isMadeOf(segment, "azAZ09-.__~~"));

const checkNumber = (
  name: string,
  value: number,
  { least, most }: { least: number; most: number },
  wrong: string[],
): void => {
  if (!Number.isInteger(value) || value < least || value > most)
    wrong.push(`${name} is a whole number from ${least} to ${most}`);
};
