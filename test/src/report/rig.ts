// A client of the report API on a host in memory, and what its platform is asked.
import {
  type ReportOptions,
  type ReportRequest,
  Reports,
  type Row,
  Session,
  type SessionOptions,
} from "../../../src/report/index.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import type { NetOptions } from "../../fakes/net.js";
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

export interface Rig {
  readonly host: FakeHost;
  readonly session: Session;
  readonly reports: Reports;
  /** All requests; logins are answered with the JWT of `user-1`, `user-2`, ... unless `login` is given. */
  readonly seen: SeenRequest[];
  readonly logins: () => number;
}

export interface RigOptions {
  session?: Partial<SessionOptions>;
  reports?: Partial<ReportOptions>;
  net?: NetOptions;
  seed?: number;
  login?: (request: SeenRequest, count: number) => void;
}

/** `report` answers each request for a report. */
export function rig(report: (request: SeenRequest, count: number) => void, options: RigOptions = {}): Rig {
  const host = fakeHost({ ...(options.net && { net: options.net }), seed: options.seed ?? 1 });
  let [logins, asked] = [0, 0];
  const login =
    options.login ??
    ((request, count) =>
      request.reply(200, { token: jwt(`user-${count}`), refreshToken: jwt(`refresh-${count}`) }));
  const seen = serve(host.net, (request) => {
    if (request.path.includes("/api/auth/")) login(request, ++logins);
    else report(request, ++asked);
  });
  const session = new Session(host, { url: URL, ...USER, ...options.session });
  const reports = new Reports(host, { url: URL, session, ...options.reports });
  return { host, session, reports, seen, logins: () => logins };
}

export interface Built {
  readonly rows: Row[];
  readonly labels: string[];
  readonly error: unknown;
  readonly result: unknown;
  /** By the clock that stands still. */
  readonly ms: number;
}

/** Asks for a report and lets time pass until it is over. */
export async function build({ host, reports }: Rig, request: Partial<ReportRequest> = {}): Promise<Built> {
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
