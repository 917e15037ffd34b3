// Every status and every way to send the JWT, with nock in the platform's place. nock sees Node's own HTTP and fetch, and the client has sockets of its own: a
// gateway on loopback takes what it sends, byte for byte from the wire, and asks again by fetch.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import nock from "nock";
import { type ReportOptions, Reports, type Row, Session } from "../../../src/report/index.js";
import { reportHost } from "../../../tools/cli/report/host.js";
import { jwt, textOf, USER, VIEW } from "./rig.js";

const PLATFORM = "http://platform.test:8080";
const API = "/apiAnalytics/publicApi/buildReport";
const REPORT = {
  columnLabels: ["Building", "Date", "energyUsage"],
  dataTable: [{ Building: "ABC", Date: "1606773600000", energyUsage: 3.422654173312068 }],
};
const LOGIN = { token: jwt("first"), refreshToken: jwt("refresh") };
const OWN = new Set(["host", "connection", "content-length", "transfer-encoding", "content-encoding"]);

let gateway: string;
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text) => (body += text));
  request.on("end", async () => {
    const headers = Object.entries(request.headers).filter(([name]) => !OWN.has(name)) as [string, string][];
    try {
      const answer = await fetch(PLATFORM + request.url, { method: request.method!, headers, body });
      const back = [...answer.headers].filter(([name]) => !OWN.has(name));
      response.writeHead(answer.status, Object.fromEntries(back)).end(await answer.text());
    } catch {
      // nock knows no such request.
      response.writeHead(599).end();
    }
  });
});

test.before(async () => {
  nock.disableNetConnect();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  gateway = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
test.afterEach.always(() => nock.cleanAll());
test.after.always(() => server.close());

function login(token = LOGIN.token): nock.Scope {
  return nock(PLATFORM)
    .post("/api/auth/login", USER)
    .matchHeader("content-type", "application/json")
    .matchHeader("accept", "application/json")
    .reply(200, { ...LOGIN, token });
}

async function build(
  options: Partial<ReportOptions> = {},
  filters?: Record<string, string[]>,
): Promise<Row[] | string> {
  // The dice show the shortest waits.
  const host = { ...reportHost(undefined), random: (into: Uint8Array) => void into.fill(0) };
  const session = new Session(host, { url: gateway, ...USER });
  const reports = new Reports(host, { url: gateway, session, ...options });
  const rows: Row[] = [];
  try {
    await reports.build(
      { viewConfigId: VIEW, filters, timeoutMs: 20_000 },
      { row: (row) => void rows.push(row) },
    );
    return rows;
  } catch (error) {
    return textOf(error);
  } finally {
    reports.close();
    session.close();
  }
}

test.serial("the JWT as the header jwt", async (t) => {
  login();
  const scope = nock(PLATFORM, { badheaders: ["x-authorization", "authorization"] })
    .post(API, { viewConfigId: VIEW, filters: {} })
    .matchHeader("jwt", LOGIN.token)
    .matchHeader("content-type", "application/json")
    .matchHeader("accept", "application/json")
    .reply(200, REPORT);
  t.deepEqual(await build({}, {}), REPORT.dataTable);
  t.true(scope.isDone());
});

test.serial("the JWT as the query parameter jwt", async (t) => {
  login();
  const scope = nock(PLATFORM, { badheaders: ["jwt", "x-authorization"] })
    .post(API, { viewConfigId: VIEW, filters: { building: ["ABC"] } })
    .query({ jwt: LOGIN.token })
    .reply(200, REPORT);
  t.deepEqual(await build({ jwtIn: "query" }, { building: ["ABC"] }), REPORT.dataTable);
  t.true(scope.isDone());
});

test.serial("the JWT as Bearer, on the older path", async (t) => {
  login();
  const scope = nock(PLATFORM, { badheaders: ["jwt"] })
    .post("/apiTrendz/publicApi/buildReport", { viewConfigId: VIEW })
    .matchHeader("x-authorization", `Bearer ${LOGIN.token}`)
    .reply(200, REPORT);
  t.deepEqual(await build({ jwtIn: "bearer", api: "/apiTrendz/publicApi" }), REPORT.dataTable);
  t.true(scope.isDone());
});

for (const [status, expected] of [
  [400, "REFUSED 400: report: the platform answered 400"],
  [404, "NOT_FOUND 404: report: the platform has no such view or API (404)"],
  [415, "REFUSED 415: report: the platform does not accept JSON here (415)"],
  [500, "REFUSED 500: report: the platform answered 500"],
  [502, "REFUSED 502: report: the platform answered 502"],
  [504, "REFUSED 504: report: the platform answered 504"],
] as const) {
  test.serial(`${status} is reported at once`, async (t) => {
    login();
    const scope = nock(PLATFORM)
      .post(API)
      .reply(status, { status, message: `no ${USER.password}` });
    t.is(await build(), expected);
    t.true(scope.isDone());
  });
}

for (const status of [401, 403]) {
  test.serial(`${status}: the fresh login's JWT is sent, and a second ${status} is the end`, async (t) => {
    login();
    login(jwt("second"));
    nock(PLATFORM).post(API).matchHeader("jwt", LOGIN.token).reply(status);
    nock(PLATFORM).post(API).matchHeader("jwt", jwt("second")).reply(200, REPORT);
    t.deepEqual(await build(), REPORT.dataTable);
    t.true(nock.isDone());
    login();
    login(jwt("second"));
    nock(PLATFORM).post(API).twice().reply(status);
    t.is(await build(), `FORBIDDEN ${status}: report: the JWT is invalid or has expired (${status})`);
    t.true(nock.isDone());
  });
}

for (const status of [429, 503]) {
  test.serial(`${status}: asked again after Retry-After; beyond timeoutMs it is the end`, async (t) => {
    login();
    nock(PLATFORM).post(API).reply(status, "", { "Retry-After": "0" });
    nock(PLATFORM).post(API).reply(200, REPORT);
    t.deepEqual(await build(), REPORT.dataTable);
    t.true(nock.isDone());
    login();
    nock(PLATFORM).post(API).reply(status, "", { "Retry-After": "60" });
    t.regex(String(await build()), new RegExp(`^BUSY ${status}: `));
    t.true(nock.isDone());
  });
}

for (const status of [401, 403]) {
  test.serial(`a login answered ${status} asks for no report`, async (t) => {
    nock(PLATFORM).post("/api/auth/login").reply(status, { message: "Invalid username or password" });
    t.is(await build(), `LOGIN ${status}: login: wrong user name or password (${status})`);
    t.true(nock.isDone());
  });
}
