// `mote report`, once its options are read.

import {
  ReportError,
  type ReportErrorCode,
  Reports,
  Session,
  type SessionOptions,
} from "../../../report/index.js";
import { isLoopback, parseTarget } from "../../../src/http/target.js";
import { BUSY, EMPTY, FAILED, INTERRUPTED, REFUSED, USAGE } from "../../exit-codes.js";
import { askSecret } from "../ask.js";
import { ExitError } from "../exit-error.js";
import { samePlace } from "../operator/authenticate.js";
import { loginPath, readLogin } from "../operator/login-file.js";
import { chosenPlatform } from "../operator/settings.js";
import { trusting } from "../operator/trusting.js";
import { note } from "../output/table.js";
import { stopSignals } from "../stop.js";
import { readCa, UsageError } from "../usage.js";
import { Output } from "./output.js";
import { type FormatName, RowWriter } from "./row-writer.js";

export interface ReportFlags {
  url?: string;
  authUrl?: string;
  view: string;
  from?: number;
  to?: number;
  filter?: Record<string, string[]>;
  format: FormatName;
  username?: string;
  jwt?: string;
  api: string;
  deadline: number;
  ca?: string;
}

/** Largest row, in bytes. */
const ROW_BYTES = 4_194_304;

/** Throws ExitError or UsageError. */
export async function writeReport(flags: ReportFlags): Promise<void> {
  const { url, session: login, ca } = await logins(flags);
  const { session, reports } = clients(flags, url, login, ca);
  warnOfClearText(login.url, url);
  const { stop } = stopSignals();
  const close = (): void => {
    reports.close();
    session.close();
  };
  stop.addEventListener("abort", close);
  const output = new Output();
  const writer = new RowWriter(flags.format, output);
  try {
    await reports.build(question(flags), writer);
  } catch (error) {
    if (stop.aborted) throw new ExitError(INTERRUPTED, "interrupted");
    // The reader of the output has read enough.
    if (error instanceof ReportError && error.code === "STOPPED") return;
    throw asFailure(error, flags);
  } finally {
    output.flush();
    close();
  }
  const { rows, remarks } = writer;
  for (const remark of remarks) note(remark);
  if (rows === 0) throw new ExitError(EMPTY, "the report has no rows: check --from, --to and --filter");
}

function question({ view, from, to, filter, deadline }: ReportFlags): Parameters<Reports["build"]>[0] {
  return { viewConfigId: view, rangeStartTs: from, rangeEndTs: to, filters: filter, timeoutMs: deadline };
}

/** Who asks, and where: what the flags say, or the login that was kept. */
async function logins(flags: ReportFlags): Promise<{ url: string; session: SessionOptions; ca?: string }> {
  const kept = readLogin(loginPath(chosenPlatform(undefined)));
  const url = flags.url ?? kept?.url;
  if (url === undefined)
    throw new UsageError("missing --url (or set MOTE_PLATFORM_URL, or log in: mote login)");
  const at = flags.authUrl ?? url;
  const { jwt, username } = flags;
  const ca = readCa(flags.ca) ?? (kept && samePlace(kept.url, at) ? kept.ca : undefined);
  const trust = ca === undefined ? {} : { ca };
  if (jwt !== undefined) return { url, session: { url: at, jwt }, ...trust };
  // A session is shown to no other platform than its own.
  const login = kept && samePlace(kept.url, at) ? kept : undefined;
  const given = process.env.MOTE_PLATFORM_PASSWORD;
  if (username !== undefined && (given !== undefined || login?.username !== username)) {
    const password = given ?? (await askSecret(`Password of ${username}: `));
    if (!password)
      throw new UsageError("missing password: set MOTE_PLATFORM_PASSWORD, or run it on a terminal");
    return { url, session: { url: at, username, password }, ...trust };
  }
  if (!login)
    throw new UsageError(
      kept
        ? `the saved login is for ${kept.url}: --auth-url ${kept.url} if its users may see this report, or --username, or --jwt`
        : "missing login: give --username or --jwt, or run mote login",
    );
  if ("apiKey" in login.session)
    throw new UsageError(
      "the saved login is an API key, which the report API does not take: --username or --jwt",
    );
  const { token, refreshToken } = login.session;
  return { url, session: { url: at, jwt: token, refreshToken }, ...trust };
}

function clients(
  { api }: ReportFlags,
  url: string,
  login: SessionOptions,
  ca: string | undefined,
): { session: Session; reports: Reports } {
  try {
    const io = ca === undefined ? {} : { fetch: trusting(ca) };
    const session = new Session(login, io);
    return { session, reports: new Reports({ url, session, api, rowBytes: ROW_BYTES }, io) };
  } catch (error) {
    throw error instanceof ReportError ? new UsageError(error.message) : error;
  }
}

/** What can be read on the way: better said than found out. */
function warnOfClearText(auth: string, url: string): void {
  const isClear = (text: string): boolean => {
    const parsed = parseTarget(text);
    return parsed.ok && !parsed.target.secure && !isLoopback(parsed.target);
  };
  if (isClear(auth)) note("The login goes over http: anyone on the way can read it.");
  else if (isClear(url)) note("The JWT and the report go over http: anyone on the way can read them.");
}

const CODES: Partial<Record<ReportErrorCode, number>> = {
  BAD_VALUE: USAGE,
  LOGIN: REFUSED,
  FORBIDDEN: REFUSED,
  NOT_FOUND: REFUSED,
  REFUSED,
  BUSY,
};

function asFailure(error: unknown, flags: ReportFlags): unknown {
  if (!(error instanceof ReportError)) return error;
  const { code, status = 0, message } = error;
  const isBroken = status >= 500 && code !== "BUSY";
  return new ExitError(isBroken ? FAILED : (CODES[code] ?? FAILED), message + hint(error, flags), {
    cause: error,
  });
}

function hint({ code, status }: ReportError, { jwt, username }: ReportFlags): string {
  if (code === "FORBIDDEN")
    return jwt === undefined && username === undefined ? " (log in again: mote login)" : "";
  if (code === "LOGIN")
    return status === 401 || status === 403 ? "" : " (does --auth-url, or --url, lead to the platform?)";
  if (code === "REFUSED" && status === 400)
    return " (does the view have these filters? is --from before --to, and its own range between?)";
  if (code === "REFUSED" && status === 415) return " (is --url the analytics server?)";
  return HINTS[code] ?? "";
}

const HINTS: Partial<Record<ReportErrorCode, string>> = {
  NOT_FOUND: " (check --view and --url; older servers need --api trendz)",
  BUSY: " (later, or with a longer --deadline)",
};
