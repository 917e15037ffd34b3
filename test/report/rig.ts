// A client of the report API with a clock and a `fetch` of the test's own, and what its platform is
// asked.
import {
  type ReportOptions,
  type ReportRequest,
  Reports,
  type Row,
  Session,
  type SessionOptions,
} from "../../report/index.js";
import { FakeClock } from "../fakes/clock.js";

export const URL = "http://platform.test:8080/base";
export const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
export const USER = { username: "tenant@example.com", password: "pa55w0rd" };
export const REPORT = '{"columnLabels":["a"],"dataTable":[{"a":1},{"a":2}]}';
export const ROWS: Row[] = [{ a: 1 }, { a: 2 }];

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A JWT that nobody signed: who it is for, and how many seconds it lives. */
export const jwt = (sub: string, life = 9000): string =>
  `${base64({ alg: "HS512" })}.${base64({ sub, iat: 1_760_000_000, exp: 1_760_000_000 + life })}.c2ln`;

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Answers request number `count` of its kind. */
export type Answer = (request: SeenRequest, count: number) => Response | Promise<Response>;

export const reply = (status: number, body: unknown = "", headers: Record<string, string> = {}): Response =>
  new Response(status === 204 ? null : typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers,
  });

export const never = (): Promise<Response> => new Promise(() => {});

/** What `fetch` throws where the network fails. */
export const failure = (code: string): Error => new TypeError("fetch failed", { cause: { code } });

export const granted: Answer = (_, count) =>
  reply(200, { token: jwt(`user-${count}`), refreshToken: jwt(`refresh-${count}`) });

interface RigOptions {
  session?: Partial<SessionOptions>;
  reports?: Partial<ReportOptions>;
  login?: Answer;
}

/** `report` answers each request for a report, `login` each other one. */
export function rig(report: Answer, { session: given, reports: more, login = granted }: RigOptions = {}) {
  const clock = new FakeClock();
  const counts = { logins: 0, reports: 0 };
  const seen: SeenRequest[] = [];
  const fetch = async (url: unknown, { method, body, ...init }: RequestInit = {}): Promise<Response> => {
    const { pathname, search, origin } = new globalThis.URL(String(url));
    if (!URL.startsWith(origin) || init.redirect !== "manual") throw new Error(`leads elsewhere: ${url}`);
    const headers = Object.fromEntries(new Headers(init.headers));
    const request = { method: method ?? "GET", path: pathname + search, headers, body: String(body) };
    seen.push(request);
    return request.path.includes("/api/auth/")
      ? login(request, ++counts.logins)
      : report(request, ++counts.reports);
  };
  const io = { clock, fetch: fetch as typeof globalThis.fetch };
  const session = new Session({ url: URL, ...USER, ...given }, io);
  const reports = new Reports({ url: URL, session, ...more }, io);
  return { clock, session, reports, seen, counts };
}

export type Rig = ReturnType<typeof rig>;

/** Asks for a report and lets time pass until it is over; `ms` is how long that took. */
export async function build({ clock, reports }: Rig, request: Partial<ReportRequest> = {}) {
  const rows: Row[] = [];
  const labels: string[] = [];
  const begun = clock.now();
  const [ended] = await clock.untilSettled(
    Promise.allSettled([
      reports.build(
        { viewConfigId: VIEW, ...request },
        { labels: (list) => void labels.push(...list), row: (row) => void rows.push(row) },
      ),
    ]),
    1e9,
  );
  const ms = clock.now() - begun;
  const [error, result] = ended.status === "fulfilled" ? [undefined, ended.value] : [ended.reason, undefined];
  return { rows, labels, error, result, ms };
}

/** `FORBIDDEN 403: report: ...`, or what it is if it is no ReportError. */
export function textOf(error: unknown): string {
  const { code, status, message } = (error ?? {}) as Record<string, unknown>;
  return `${code}${status === undefined ? "" : ` ${status}`}: ${message}`;
}
