import { createServer } from "node:http";
import { inspect } from "node:util";
import test from "ava";
import { ReportError, Reports, Session, type SessionOptions } from "../../report/index.js";
import { listen } from "../fakes/listen.js";
import {
  type Answer,
  build,
  failure,
  granted,
  jwt,
  never,
  REPORT,
  ROWS,
  reply,
  rig,
  textOf,
  URL,
  USER,
  VIEW,
} from "./rig.js";

const ok: Answer = () => reply(200, REPORT);
const ask = { viewConfigId: VIEW };
const nobody = { row: () => {} };

/** An answer that sends `text` and then `ends`, or never ends. */
const begun = (
  text: string,
  ends?: (body: ReadableStreamDefaultController<Uint8Array>) => void,
): Response => {
  const sent = new TextEncoder().encode(text);
  let isSent = false;
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(body) {
        if (isSent) return ends ? ends(body) : new Promise(() => {});
        isSent = true;
        body.enqueue(sent);
      },
    }),
  );
};

test("a report: one login, one POST with the JWT in the header, the rows one by one", async (t) => {
  const made = rig(ok);
  const question = {
    rangeStartTs: 1_760_000_000_000,
    rangeEndTs: 1_760_086_400_000,
    filters: { 'Bau "1"': ["a", "ü"], none: [] },
  };
  const { rows, labels, result } = await build(made, question);
  t.deepEqual([rows, labels, result], [ROWS, ["a"], { rows: 2, bytes: REPORT.length }]);
  const [login, report, ...others] = made.seen;
  t.deepEqual(others, []);
  t.deepEqual([login?.method, login?.path], ["POST", "/base/api/auth/login"]);
  t.deepEqual(JSON.parse(login?.body ?? ""), USER);
  t.deepEqual([report?.method, report?.path], ["POST", "/base/apiAnalytics/publicApi/buildReport"]);
  t.deepEqual(JSON.parse(report?.body ?? ""), { viewConfigId: VIEW, ...question });
  const { jwt: sent, accept, "content-type": type } = report!.headers;
  t.deepEqual([sent, accept, type], [jwt("user-1"), "application/json", "application/json"]);
  t.false("x-authorization" in report!.headers);
  await build(made);
  t.is(made.seen[2]?.body, `{"viewConfigId":"${VIEW}"}`, "the view has its own range and filters");
});

test("refuses a wrong question before anything is sent", async (t) => {
  const limits = "expected a number of ms, more than 0 and up to 20 days";
  for (const [question, message] of [
    [{ viewConfigId: "../../x" }, "viewConfigId must be a UUID"],
    [{ rangeStartTs: 2, rangeEndTs: 1 }, "rangeStartTs must not be after rangeEndTs"],
    [{ rangeStartTs: 1.5 }, "rangeStartTs must be a whole number of ms since 1970"],
    [{ rangeEndTs: 1e300 }, "rangeEndTs must be a whole number of ms since 1970"],
    [{ filters: [] as never }, "filters must be an object of arrays"],
    [{ filters: { a: ["x", 1] } as never }, "each filter must be an array of strings"],
    [{ timeoutMs: 0 }, `invalid timeoutMs: ${limits}`],
    [{ timeoutMs: Number.NaN }, `invalid timeoutMs: ${limits}`],
  ] as const) {
    const made = rig(ok);
    t.is(textOf((await build(made, question)).error), `BAD_VALUE: ${message}`);
    t.deepEqual(made.seen, []);
  }
});

test("reports a status at once, by its meaning and without the platform's text", async (t) => {
  for (const [status, expected] of [
    [400, "REFUSED 400: report: the platform answered 400"],
    [404, "NOT_FOUND 404: report: the platform has no such view or API (404)"],
    [415, "REFUSED 415: report: the platform does not accept JSON here (415)"],
    [500, "REFUSED 500: report: the platform answered 500"],
    [504, "REFUSED 504: report: the platform answered 504"],
    [302, "REFUSED 302: report: the platform answered 302"],
    [204, "REFUSED 204: report: the platform answered 204"],
  ] as const) {
    const made = rig(({ headers }) =>
      reply(status, `boom ${headers.jwt}`, { location: "http://evil.test/" }),
    );
    t.is(textOf((await build(made)).error), expected);
    t.is(made.seen.length, 2);
  }
  const own = { username: undefined, password: undefined, jwt: jwt("mine") };
  for (const status of [401, 403]) {
    const made = rig(() => reply(status), { session: own });
    const expected = `FORBIDDEN ${status}: report: the JWT is invalid or has expired (${status})`;
    t.is(textOf((await build(made)).error), expected, "nothing can renew a JWT that was given");
    t.is(made.seen.length, 1);
  }
});

test("logs in afresh once, also when the platform is busy between", async (t) => {
  const statuses = [403, 429, 503, 429, 200];
  const same: Answer = () => reply(200, { token: jwt("same") });
  const made = rig((_, count) => reply(statuses[count - 1]!, REPORT), { login: same });
  t.deepEqual((await build(made)).rows, ROWS);
  t.is(made.counts.logins, 2);
  const refusing = rig((_, count) => reply(count === 2 ? 429 : 403), { login: same });
  t.regex(textOf((await build(refusing)).error), /^FORBIDDEN 403/);
  t.is(refusing.counts.logins, 2);
});

test("waits as long as a busy platform says", async (t) => {
  const date = new Date(1e12).toUTCString();
  for (const after of ["7", new Date(1e12 + 7000).toUTCString()])
    for (const status of [429, 503]) {
      const made = rig((_, count) =>
        count < 3 ? reply(status, "", { "Retry-After": after, date }) : reply(200, REPORT),
      );
      const { rows, ms } = await build(made);
      t.deepEqual(rows, ROWS);
      t.true(ms >= 14_000 && ms <= 14_000 + 3000, `${ms}`);
    }
});

test("429 without Retry-After: waits that grow, until the time limit", async (t) => {
  const times: number[] = [];
  const made = rig(() => {
    times.push(made.clock.now());
    return reply(429);
  });
  const { error, ms } = await build(made, { timeoutMs: 60_000 });
  t.is(textOf(error), "BUSY 429: report: too many requests (429) until the time limit");
  t.true(ms < 60_000);
  t.true(times.length >= 5 && times.length <= 14, `${times.length} requests in 60 s`);
  t.true(times[1]! - times[0]! <= 1000 && times.at(-1)! - times.at(-2)! > 5000, times.join());
});

test("reports of one client run one after the other, in order, with one login", async (t) => {
  let [open, most] = [0, 0];
  const made = rig(
    () =>
      new Promise((resolve) => {
        most = Math.max(most, ++open);
        made.clock.timer(100, () => {
          open--;
          resolve(reply(200, REPORT));
        });
      }),
  );
  const ended: [number, rows: number][] = [];
  for (let i = 0; i < 50; i++) void made.reports.build(ask, nobody).then(({ rows }) => ended.push([i, rows]));
  await made.clock.runUntil(() => ended.length === 50);
  t.deepEqual(ended, [...Array(50).keys()].map((i) => [i, 2]) as typeof ended);
  t.deepEqual([most, made.counts.logins, made.clock.waiting], [1, 1, 0]);
});

test("gives up an answer that falls silent, and builds the next report", async (t) => {
  const made = rig((_, count) => (count === 1 ? begun(REPORT.slice(0, 44)) : reply(200, REPORT)), {
    reports: { idleMs: 2000 },
  });
  const { error, ms, rows } = await build(made, { timeoutMs: 60_000 });
  t.is(textOf(error), "TIMEOUT: report: no more data from the platform after 1 rows");
  t.deepEqual(rows, [{ a: 1 }]);
  t.true(ms <= 4100, `${ms}`);
  t.deepEqual((await build(made)).rows, ROWS);
});

test("an answer that breaks off is an error that says how many rows there were", async (t) => {
  for (const [ends, expected] of [
    [(body) => body.error(failure("UND_ERR_SOCKET")), "LOST: report: connection lost after 1 rows"],
    [(body) => body.close(), "MALFORMED: report: the answer is malformed or incomplete (row 2)"],
  ] as [(body: ReadableStreamDefaultController) => void, string][]) {
    const made = rig(() => begun(REPORT.slice(0, 44), ends));
    t.is(textOf((await build(made)).error), expected);
    t.is(made.seen.length, 2);
  }
});

test("asks once more where a connection was lost before an answer", async (t) => {
  const stale = rig((_, count) => (count === 1 ? Promise.reject(failure("ECONNRESET")) : reply(200, REPORT)));
  t.deepEqual((await build(stale)).rows, ROWS);
  for (const [code, expected, asked] of [
    ["ECONNRESET", "LOST: report: connection lost", 2],
    ["ECONNREFUSED", "LOST: report: connection refused", 1],
    ["ENOTFOUND", "LOST: report: host name not found", 1],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "LOST: report: connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)", 1],
    ["UND_ERR_HEADERS_TIMEOUT", "TIMEOUT: report: nothing from the platform for 5 minutes", 1],
  ] as const) {
    const made = rig(() => Promise.reject(failure(code)));
    t.is(textOf((await build(made)).error), expected);
    t.is(made.counts.reports, asked, code);
  }
});

test("passes on what the taker throws, and reads no further", async (t) => {
  const made = rig(ok);
  const boom = new Error("disk full");
  const row = (): void => {
    throw boom;
  };
  t.is(await made.clock.untilSettled(made.reports.build(ask, { row }).catch((error) => error)), boom);
  t.deepEqual((await build(made)).rows, ROWS);
  const stopped = made.reports.build(ask, { row: () => false }).catch(textOf);
  t.is(await made.clock.untilSettled(stopped), "STOPPED: report: aborted by the row taker");
});

test("a row larger than allowed ends the report at once, whatever its size", async (t) => {
  let pulled = 0;
  const endless = new ReadableStream({
    pull: (body) =>
      body.enqueue(new TextEncoder().encode(pulled++ === 0 ? `${REPORT.slice(0, 48)}"` : "x".repeat(65_536))),
  });
  const { error, rows } = await build(rig(() => new Response(endless), { reports: { rowBytes: 1024 } }));
  t.is(textOf(error), "TOO_LARGE: report: row 2, or the list of labels, is larger than allowed");
  t.is(rows.length, 1);
  t.true(pulled < 5, `${pulled}`);
});

test("close stops running and queued reports, and later ones", async (t) => {
  const made = rig(never);
  const all = [1, 2].map(() => made.reports.build(ask, nobody).catch(textOf));
  await made.clock.advance(1000);
  made.reports.close();
  await made.clock.advance(10);
  t.deepEqual(await Promise.all(all), Array(2).fill("STOPPED: report: the client is closed"));
  t.is(textOf((await build(made)).error), "STOPPED: report: the client is closed");
  t.is(made.clock.waiting, 0);
});

test("neither the JWT nor the password is ever in an error or in a plain field", async (t) => {
  for (const [status, body] of [
    [200, "<html>"],
    [403, "x"],
    [500, "x"],
    [200, "{"],
  ] as const) {
    const made = rig(({ headers }) => reply(status, `${body}${headers.jwt}${USER.password}`));
    const { error } = await build(made);
    t.notRegex([inspect(error), inspect(made.session), inspect(made.reports)].join(), /eyJ|pa55w0rd/);
  }
});

/** A session alone, and what its platform is asked. */
function begin(login: Answer = granted, options: Partial<SessionOptions> = {}) {
  const { clock, session, seen } = rig(never, { login, session: options });
  /** The token, or what went wrong. */
  const token = (timeoutMs?: number, refused?: string): Promise<string> =>
    clock.untilSettled(session.token(timeoutMs, refused).catch(textOf));
  const paths = (): string[] => seen.map(({ path }) => path.slice("/base/api/auth/".length));
  return { clock, session, seen, token, paths };
}

test("keeps the token for its life, exp - iat, on the monotonic clock, and then refreshes it", async (t) => {
  const { clock, token, paths, seen } = begin();
  t.is(await token(), jwt("user-1"));
  await clock.advance((9000 - 61) * 1000);
  t.is(await token(), jwt("user-1"));
  await clock.advance(1000);
  t.is(await token(), jwt("user-2"));
  t.deepEqual(paths(), ["login", "token"]);
  t.deepEqual(JSON.parse(seen[1]!.body), { refreshToken: jwt("refresh-1") });
});

test("uses a token that does not state its life until it is refused", async (t) => {
  for (const plain of [
    "abc",
    "a.b.c",
    `a.${Buffer.from('{"exp":1,"iat":2}').toString("base64url")}.c`,
    "a.e30.c",
    "a.bnVsbA.c",
  ]) {
    const { clock, token } = begin((_, count) => reply(200, { token: count === 1 ? plain : "second" }));
    const first = await token();
    await clock.advance(1e8);
    t.is(await token(), first);
    t.is(await token(1000, first), "second");
  }
});

test("one login, however many ask, and one renewal, however many were refused", async (t) => {
  const { clock, session, token, paths } = begin();
  const all = async (refused?: string) => {
    const asked = Promise.all(Array.from({ length: 20 }, () => session.token(1000, refused)));
    await clock.advance(1000);
    return [...new Set(await asked)];
  };
  t.deepEqual(await all(), [jwt("user-1")]);
  t.deepEqual(await all(jwt("user-1")), [jwt("user-2")]);
  t.is(await token(1000, jwt("user-1")), jwt("user-2"), "renewed already");
  t.deepEqual(paths(), ["login", "login"]);
});

test("a wrong password is sent once for all who wait; a caller's own deadline ends its wait alone", async (t) => {
  const wrong = begin(() => reply(401));
  const all = Promise.all(Array.from({ length: 5 }, () => wrong.session.token().catch(textOf)));
  t.deepEqual(
    await wrong.clock.untilSettled(all),
    Array(5).fill("LOGIN 401: login: wrong user name or password (401)"),
  );
  t.is(wrong.seen.length, 1);
  const slow = begin((_, count) => (count === 1 ? never() : granted({} as never, count)));
  const both = Promise.all(
    [slow.session.token(1000), slow.session.token(5000)].map((one) => one.catch(textOf)),
  );
  t.deepEqual(await slow.clock.untilSettled(both), [
    "TIMEOUT: login: not complete within the time limit",
    jwt("user-2"),
  ]);
});

test("follows a refused refresh with a login, and keeps the refresh token over an outage", async (t) => {
  const refusing = begin((request, count) =>
    request.path.endsWith("/token") ? reply(401) : granted(request, count),
  );
  await refusing.token();
  await refusing.clock.advance(9_000_000);
  t.is(await refusing.token(), jwt("user-3"));
  t.deepEqual(refusing.paths(), ["login", "token", "login"]);
  const away = begin((request, count) =>
    count === 2 ? Promise.reject(failure("ECONNREFUSED")) : granted(request, count),
  );
  await away.token();
  await away.clock.advance(9_000_000);
  t.is(await away.token(), "LOST: login: connection refused");
  t.is(await away.token(), jwt("user-3"));
  t.deepEqual(away.paths(), ["login", "token", "token"]);
});

test("renews a refused JWT from elsewhere by its refresh token, as long as that is good", async (t) => {
  const own = { username: undefined, password: undefined, jwt: jwt("mine"), refreshToken: jwt("refresh-0") };
  const good = begin(granted, own);
  t.is(await good.token(), jwt("mine"));
  t.is(await good.token(1000, jwt("mine")), jwt("user-1"));
  t.deepEqual(good.paths(), ["token"]);
  const over = begin(() => reply(401), own);
  for (let n = 0; n < 2; n++)
    t.is(
      await over.token(1000, jwt("mine")),
      "FORBIDDEN 401: login: the JWT is invalid or has expired (401)",
    );
  t.deepEqual(over.paths(), ["token"]);
});

test("reports a login that brings no token", async (t) => {
  const none = "MALFORMED: login: the answer contains no token";
  for (const [answer, expected] of [
    [() => reply(200, "<html>"), none],
    [() => reply(200, {}), none],
    [() => reply(200, "null"), none],
    [() => reply(200, { token: "a\r\nEvil: 1" }), none],
    [() => reply(200, { token: "a", more: "x".repeat(70_000) }), none],
    [
      () => reply(302, "", { Location: "http://evil.test/" }),
      "LOGIN 302: login: no login service at this URL (302)",
    ],
    [() => reply(401), "LOGIN 401: login: wrong user name or password (401)"],
    [() => reply(404), "LOGIN 404: login: no login service at this URL (404)"],
    [() => Promise.reject(failure("ECONNRESET")), "LOST: login: connection lost"],
    [never, "TIMEOUT: login: not complete within the time limit"],
  ] as [Answer, string][])
    t.is(await begin(answer).token(20_000), expected);
});

test("names all wrong options of a session at once, and quotes none", (t) => {
  const wrong = (options: object): string | undefined =>
    t.throws(() => new Session(options as SessionOptions), { instanceOf: ReportError })?.message;
  t.is(
    wrong({ url: "platform", username: "a" }),
    "url must be a string that begins with http:// or https://; username and password must be given together",
  );
  t.is(wrong({ url: URL }), "username and password, or a jwt, are required");
  t.is(wrong({ url: URL, jwt: "s3cret\r\n" }), "jwt must consist of letters, digits and . _ ~ + / = -");
  t.is(
    wrong({ url: URL, username: "", password: 7 }),
    "username must be a non-empty string; password must be a non-empty string",
  );
});

test("Node's own fetch: a login, a report, a redirect, an answer that breaks off, no server", async (t) => {
  const answers: ((end: import("node:http").ServerResponse) => void)[] = [
    (response) => response.end(REPORT),
    (response) => response.writeHead(307, { location: "/elsewhere" }).end(),
    (response) => {
      response.writeHead(200).write(REPORT.slice(0, 44));
      setImmediate(() => response.destroy());
    },
  ];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === "/api/auth/login") response.end(JSON.stringify({ token: jwt("me") }));
    else if (request.headers.jwt === jwt("me")) answers.shift()!(response);
  });
  const url = `http://127.0.0.1:${await listen(server, t)}`;
  const session = new Session({ url, ...USER });
  const reports = new Reports({ url, session });
  t.deepEqual(await reports.build(ask, nobody), { rows: 2, bytes: REPORT.length });
  const failed = (): Promise<unknown> => reports.build(ask, nobody).catch(textOf);
  t.is(await failed(), "REFUSED 307: report: the platform answered 307");
  t.is(await failed(), "LOST: report: connection lost after 1 rows");
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  t.is(await failed(), "LOST: report: connection refused");
});
