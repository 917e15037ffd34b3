// A client of the report API on a host in memory, and what its platform is asked.
import {
  type ReportOptions,
  type ReportRequest,
  Reports,
  type Row,
  Session,
  type SessionOptions,
} from "../../../src/report/index.js";
import { fakeHost } from "../../fakes/host.js";
import { type SeenRequest, serve } from "../../fakes/server.js";

export const URL = "http://platform.test:8080/base";
export const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
export const USER = { username: "tenant@example.com", password: "pa55w0rd" };
export const REPORT = '{"columnLabels":["a"],"dataTable":[{"a":1},{"a":2}]}';
export const ROWS: Row[] = [{ a: 1 }, { a: 2 }];

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A JWT that nobody signed: who it is for, and how many seconds it lives. */
export const jwt = (sub: string, life = 9000): string =>
  `${base64({ alg: "HS512" })}.${base64({ sub, iat: 1_760_000_000, exp: 1_760_000_000 + life })}.c2ln`;

/** Answers request number `count` of its kind. */
export type Answer = (request: SeenRequest, count: number) => void;

export const granted: Answer = (request, count) =>
  request.reply(200, { token: jwt(`user-${count}`), refreshToken: jwt(`refresh-${count}`) });

interface RigOptions {
  session?: Partial<SessionOptions>;
  reports?: Partial<ReportOptions>;
  seed?: number;
  login?: Answer;
}

/** `report` answers each request for a report, `login` each other one. */
export function rig(
  report: Answer,
  { session: given, reports: more, seed, login = granted }: RigOptions = {},
) {
  const host = fakeHost({ seed: seed ?? 1 });
  const counts = { logins: 0, reports: 0 };
  const seen = serve(host.net, (request) => {
    if (request.path.includes("/api/auth/")) login(request, ++counts.logins);
    else report(request, ++counts.reports);
  });
  const session = new Session(host, { url: URL, ...USER, ...given });
  const reports = new Reports(host, { url: URL, session, ...more });
  return { host, session, reports, seen, counts };
}

export type Rig = ReturnType<typeof rig>;

/** Asks for a report and lets time pass until it is over; `ms` is how long that took. */
export async function build({ host, reports }: Rig, request: Partial<ReportRequest> = {}) {
  const rows: Row[] = [];
  const labels: string[] = [];
  const begun = host.clock.now();
  const [ended] = await host.clock.untilSettled(
    Promise.allSettled([
      reports.build(
        { viewConfigId: VIEW, ...request },
        { labels: (list) => void labels.push(...list), row: (row) => void rows.push(row) },
      ),
    ]),
    1e9,
  );
  const ms = host.clock.now() - begun;
  const [error, result] = ended.status === "fulfilled" ? [undefined, ended.value] : [ended.reason, undefined];
  return { rows, labels, error, result, ms };
}

/** `FORBIDDEN 403: report: ...`, or what it is if it is no ReportError. */
export function textOf(error: unknown): string {
  const { code, status, message } = (error ?? {}) as Record<string, unknown>;
  return `${code}${status === undefined ? "" : ` ${status}`}: ${message}`;
}
