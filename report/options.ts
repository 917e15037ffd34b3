// Options of a report client and their validation. All mistakes are reported at once.

import { baseUrl } from "./base-url.js";
import { ReportError } from "./errors.js";
import type { Session } from "./session.js";

export interface ReportOptions {
  /** Base URL of the analytics server, which builds the reports. */
  url: string;
  /** The login of the user. */
  session: Session;
  /**
   * Path of the API below `url`; older servers have `/apiTrendz/publicApi`. Default
   * `/apiAnalytics/publicApi`.
   */
  api?: string | undefined;
  /**
   * Maximum size of one row, and of the list of labels, in bytes: 256 to 16 MiB. Also the memory of
   * a report. Default 16,384.
   */
  rowBytes?: number | undefined;
  /**
   * Time without data after which a started answer is aborted, in ms, at least 100. Default 60,000.
   */
  idleMs?: number | undefined;
}

/** The options, complete with defaults. */
export interface CheckedReportOptions {
  readonly url: string;
  readonly rowBytes: number;
  readonly idleMs: number;
}

const API = "/apiAnalytics/publicApi";
const NAMES = ["url", "session", "api", "rowBytes", "idleMs"];
const ROW_BYTES = { default: 16_384, least: 256, most: 16_777_216 } as const;
const IDLE_MS = { default: 60_000, least: 100, most: 86_400_000 } as const;

/** Throws `BAD_OPTIONS` with every mistake by name. Values are never quoted. */
export function checkReportOptions(options: ReportOptions): CheckedReportOptions {
  const wrong = Object.keys(options)
    .filter((name) => !NAMES.includes(name))
    .map((name) => `unknown option "${name}"`);
  const { url, session, api = API } = options;
  const { rowBytes = ROW_BYTES.default, idleMs = IDLE_MS.default } = options;
  const base = baseUrl(url, wrong);
  if (typeof session?.token !== "function") wrong.push("session must be a Session");
  if (typeof api !== "string" || !/^(\/[\w.~-]+)+$/.test(api))
    wrong.push("api must be a path like /apiTrendz/publicApi");
  checkNumber("rowBytes", rowBytes, ROW_BYTES, wrong);
  checkNumber("idleMs", idleMs, IDLE_MS, wrong);
  if (wrong.length > 0) throw new ReportError("BAD_OPTIONS", wrong.join("; "));
  return { url: `${base}${api}/buildReport`, rowBytes, idleMs };
}

function checkNumber(
  name: string,
  value: number,
  { least, most }: { least: number; most: number },
  wrong: string[],
): void {
  if (!Number.isInteger(value) || value < least || value > most)
    wrong.push(`${name} must be a whole number from ${least} to ${most}`);
}
