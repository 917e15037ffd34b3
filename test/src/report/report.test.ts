import { inspect } from "node:util";
import test from "ava";
import { ReportError, Reports, Session, type SessionOptions } from "../../../src/report/index.js";
import { fakeHost } from "../../fakes/host.js";
import { type Answer, build, granted, jwt, REPORT, ROWS, rig, textOf, URL, USER, VIEW } from "./rig.js";

const BEGUN = '{"columnLabels":["a"],"dataTable":[{"a":1},{"a":"';
const ok: Answer = (request) => request.reply(200, REPORT);

test("a report: a login, one POST with the JWT in the header, the rows one by one", async (t) => {
  const made = rig(ok);
  const question = {
    rangeStartTs: 1_760_000_000_000,
    rangeEndTs: 1_760_086_400_000,
    filters: { 'Bau "1"': ["a", "ü"], none: [] },
  };
  const { rows, labels, result } = await build(made, question);
  t.deepEqual(rows, ROWS);
  t.deepEqual(labels, ["a"]);
  t.deepEqual(result, { rows: 2, bytes: REPORT.length });
  const [login, report, ...others] = made.seen;
  t.deepEqual(others, []);
  t.deepEqual(
    [login?.method, login?.path, JSON.parse(login?.body ?? "")],
    ["POST", "/base/api/auth/login", USER],
  );
  t.deepEqual([report?.method, report?.path], ["POST", "/base/apiAnalytics/publicApi/buildReport"]);
  t.deepEqual(JSON.parse(report?.body ?? ""), { viewConfigId: VIEW, ...question });
  const { jwt: sent, accept, "content-type": type } = report!.headers;
  t.deepEqual([sent, accept, type], [jwt("user-1"), "application/json", "application/json"]);
  t.false("x-authorization" in report!.headers);
});

test("without a range and filters the view's own hold: they are not sent", async (t) => {
  const made = rig(ok);
  await build(made);
  t.is(made.seen[1]?.body, `{"viewConfigId":"${VIEW}"}`);
});

test("a wrong question is refused before anything is sent", async (t) => {
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
    t.is(made.host.net.peers.length, 0);
  }
});

test("the JWT goes as Bearer on the older path, or as a query parameter", async (t) => {
  const older = rig(ok, { reports: { jwtIn: "bearer", api: "/apiTrendz/publicApi" } });
  await build(older);
  t.is(older.seen[1]?.path, "/base/apiTrendz/publicApi/buildReport");
  t.is(older.seen[1]?.headers["x-authorization"], `Bearer ${jwt("user-1")}`);
  const query = rig(ok, { reports: { jwtIn: "query" } });
  await build(query);
  t.is(query.seen[1]?.path, `/base/apiAnalytics/publicApi/buildReport?jwt=${jwt("user-1")}`);
  for (const { headers } of [older.seen[1]!, query.seen[1]!]) t.false("jwt" in headers);
});

test("a status is reported at once, by its meaning and without what the platform said", async (t) => {
  const malformed = "MALFORMED: report: the answer is malformed or incomplete (row 1)";
  for (const [status, expected] of [
    [400, "REFUSED 400: report: the platform answered 400"],
    [404, "NOT_FOUND 404: report: the platform has no such view or API (404)"],
    [415, "REFUSED 415: report: the platform does not accept JSON here (415)"],
    [500, "REFUSED 500: report: the platform answered 500"],
    [504, "REFUSED 504: report: the platform answered 504"],
    [302, "LOST: report: foreign answer (status 302)"],
    [204, malformed],
  ] as const) {
    const body = status === 204 ? "" : "boom";
    const made = rig((request) => request.reply(status, body && `${body} ${request.headers.jwt}`));
    t.is(textOf((await build(made)).error), expected);
    t.is(made.seen.length, 2);
  }
  const own = { username: undefined, password: undefined, jwt: jwt("mine") };
  for (const status of [401, 403]) {
    const made = rig((request) => request.reply(status), { session: own });
    const expected = `FORBIDDEN ${status}: report: the JWT is invalid or has expired (${status})`;
    t.is(textOf((await build(made)).error), expected, "nothing can renew a JWT that was given");
    t.is(made.seen.length, 1);
  }
});

test("one fresh login, also when the platform is busy between", async (t) => {
  const statuses = [403, 429, 503, 429, 200];
  const same: Answer = (request) => request.reply(200, { token: jwt("same") });
  const made = rig((request, count) => request.reply(statuses[count - 1]!, REPORT), { login: same });
  t.deepEqual((await build(made)).rows, ROWS);
  t.is(made.counts.logins, 2);
  const refusing = rig((request, count) => request.reply(count === 2 ? 429 : 403), { login: same });
  t.regex(textOf((await build(refusing)).error), /^FORBIDDEN 403/);
  t.is(refusing.counts.logins, 2);
});

test("a busy platform that says when is not asked again before", async (t) => {
  for (const status of [429, 503]) {
    const made = rig((request, count) =>
      count < 3 ? request.reply(status, "", { "Retry-After": "7" }) : request.reply(200, REPORT),
    );
    const { rows, ms } = await build(made);
    t.deepEqual(rows, ROWS);
    t.true(ms >= 14_000 && ms < 14_000 + 3100, `${ms}`);
  }
});

test("429 without Retry-After: random waits that grow, until the time limit", async (t) => {
  const times = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const made = rig((request) => request.reply(429), { seed });
      const { error, ms } = await build(made, { timeoutMs: 60_000 });
      t.is(textOf(error), "BUSY 429: report: too many requests (429) until the time limit");
      t.true(ms < 60_000);
      const asked = made.seen.length - 1;
      t.true(asked >= 5 && asked <= 14, `${asked} requests in 60 s`);
      return ms;
    }),
  );
  t.is(new Set(times).size, 3);
});

test("reports of one client run one after the other, in order, on one connection", async (t) => {
  let [open, most] = [0, 0];
  const made = rig((request) => {
    most = Math.max(most, ++open);
    made.host.clock.timer(100, () => {
      open--;
      request.reply(200, REPORT);
    });
  });
  const ended: [number, rows: number][] = [];
  for (let i = 0; i < 50; i++)
    void made.reports
      .build({ viewConfigId: VIEW }, { row: () => {} })
      .then(({ rows }) => ended.push([i, rows]));
  await made.host.clock.runUntil(() => ended.length === 50);
  t.deepEqual(ended, [...Array(50).keys()].map((i) => [i, 2]) as typeof ended);
  t.is(most, 1);
  t.is(made.counts.logins, 1);
  // One for the login, one for all reports; both are given back.
  t.is(made.host.net.peers.length, 2);
  await made.host.clock.advance(10);
  t.true(made.host.net.peers.every(({ closed }) => closed));
  t.is(made.host.clock.waiting, 0);
});

test("a report that gets no turn before its deadline fails with a reason, and harms no other", async (t) => {
  const made = rig((request) => made.host.clock.timer(5000, () => request.reply(200, REPORT)));
  const first = build(made);
  const second = made.reports.build({ viewConfigId: VIEW, timeoutMs: 1000 }, { row: () => {} });
  const error = await t.throwsAsync(Promise.race([second, first.then(() => undefined)]), {
    instanceOf: ReportError,
  });
  t.is(textOf(error), "TIMEOUT: report: still queued at the time limit");
  t.deepEqual((await first).rows, ROWS);
  t.deepEqual((await build(made)).rows, ROWS);
});

test("128 reports may wait for their turn; one more is reported at once, and those are built", async (t) => {
  const made = rig((request) => made.host.clock.timer(10, () => request.reply(200, REPORT)));
  const ends: string[] = [];
  for (let i = 0; i < 130; i++)
    made.reports.build({ viewConfigId: VIEW }, { row: () => {} }).then(
      ({ rows }) => ends.push(`${rows} rows`),
      (error) => ends.push(textOf(error)),
    );
  await made.host.clock.runUntil(() => ends.length === 130);
  t.deepEqual(ends, ["BUSY: 128 reports are already queued", ...Array(129).fill("2 rows")]);
});

test("an answer that has begun and falls silent is given up, and the next report is built", async (t) => {
  const begun = `HTTP/1.1 200 \r\nContent-Length: 1000\r\n\r\n${REPORT.slice(0, 44)}`;
  const answer: Answer = (request, count) => (count === 1 ? request.peer.send(begun) : ok(request, count));
  const made = rig(answer, { reports: { idleMs: 2000 } });
  const { error, ms, rows } = await build(made, { timeoutMs: 60_000 });
  t.is(textOf(error), "TIMEOUT: report: no more data from the platform after 1 rows");
  t.deepEqual(rows, [{ a: 1 }]);
  t.true(ms <= 4100, `${ms}`);
  t.deepEqual((await build(made)).rows, ROWS);
});

test("an answer that breaks off is an error that says how many rows there were", async (t) => {
  for (const [end, chunked, expected] of [
    ["end", true, /^LOST: report: connection .* after 1 rows$/],
    ["reset", true, /^LOST: report: connection .* after 1 rows$/],
    ["end", false, /^MALFORMED: report: the answer is malformed or incomplete \(row 2\)$/],
  ] as const) {
    const made = rig(({ peer }) => {
      peer.send("HTTP/1.1 200 \r\n");
      peer.send(chunked ? "Transfer-Encoding: chunked\r\n\r\n2c\r\n" : "\r\n");
      peer.send(REPORT.slice(0, 44) + (chunked ? "\r\n" : ""));
      peer[end]();
    });
    t.regex(textOf((await build(made)).error), expected);
    t.is(made.seen.length, 2);
  }
});

test("what the taker throws comes out, and the rest is not read", async (t) => {
  const made = rig(ok);
  const boom = new Error("disk full");
  const building = made.reports.build(
    { viewConfigId: VIEW },
    {
      row: () => {
        throw boom;
      },
    },
  );
  const caught = building.catch((error) => error);
  await made.host.clock.advance(1000);
  t.is(await caught, boom);
  t.deepEqual((await build(made)).rows, ROWS);
});

test("a row larger than allowed ends the report at once, whatever its size", async (t) => {
  let sent = 0;
  const made = rig(
    ({ peer }) => {
      peer.send(
        `HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n${BEGUN.length.toString(16)}\r\n${BEGUN}\r\n`,
      );
      for (; sent < 10_485_760; sent += 65_536) peer.send(`10000\r\n${"x".repeat(65_536)}\r\n`);
    },
    { reports: { rowBytes: 1024 } },
  );
  const { error, rows } = await build(made);
  t.is(textOf(error), "TOO_LARGE: report: row 2, or the list of labels, is larger than allowed");
  t.is(rows.length, 1);
});

test("close: what runs and what waits is stopped, and so is what comes later", async (t) => {
  const made = rig(() => {});
  const all = [1, 2].map(() => made.reports.build({ viewConfigId: VIEW }, { row: () => {} }).catch(textOf));
  await made.host.clock.advance(1000);
  made.reports.close();
  await made.host.clock.advance(10);
  t.deepEqual(await Promise.all(all), Array(2).fill("STOPPED: report: the client is closed"));
  t.is(textOf((await build(made)).error), "STOPPED: report: the client is closed");
  t.is(made.host.clock.waiting, 0);
});

test("neither the JWT nor the password is ever in a log, in an error or in a plain field", async (t) => {
  for (const [status, body] of [
    [200, "<html>"],
    [403, "x"],
    [500, "x"],
    [200, "{"],
  ] as const)
    for (const jwtIn of ["header", "query"] as const) {
      const made = rig(
        (request) => request.reply(status, `${body}${request.headers.jwt ?? request.path}${USER.password}`),
        { reports: { jwtIn } },
      );
      const shown = [textOf((await build(made)).error), ...made.host.lines, inspect(made.session)];
      t.notRegex(shown.join(), /eyJ|pa55w0rd|jwt=/);
    }
});

test("wrong options are reported all at once, and none is quoted", (t) => {
  const host = fakeHost();
  const session = new Session(host, { url: URL, jwt: "abc" });
  const wrong = {
    url: "ftp://x",
    session: {} as Session,
    api: "x y",
    jwtIn: "body" as "header",
    rowBytes: 1,
    idleMs: 0,
    more: 1,
  };
  const error = t.throws(() => new Reports(host, wrong), { instanceOf: ReportError });
  t.is(
    error?.message,
    'unknown option "more"; url must be a string that begins with http:// or https://; session must be a Session; api must be a path like /apiTrendz/publicApi; jwtIn must be header, bearer or query; rowBytes must be a whole number from 256 to 16777216; idleMs must be a whole number from 100 to 86400000',
  );
  t.notThrows(() => new Reports(host, { url: URL, session }));
});

/** A session alone, and what its platform is asked. */
function begin(login: Answer = granted, options: Partial<SessionOptions> = {}) {
  const { host, session, seen } = rig(() => {}, { login, session: options });
  /** The token, or what went wrong. */
  const token = (timeoutMs?: number, refused?: string): Promise<string> =>
    host.clock.untilSettled(session.token(timeoutMs, refused).catch(textOf));
  const paths = (): string[] => seen.map(({ path }) => path.slice("/base/api/auth/".length));
  return { host, session, seen, token, paths };
}

test("the token is kept for its life, exp - iat, on the monotonic clock, and then refreshed", async (t) => {
  const { host, token, paths, seen } = begin();
  t.is(await token(), jwt("user-1"));
  // The time of day plays no part.
  host.clock.setWall(undefined);
  await host.clock.advance((9000 - 61) * 1000);
  t.is(await token(), jwt("user-1"));
  await host.clock.advance(1000);
  t.is(await token(), jwt("user-2"));
  t.deepEqual(paths(), ["login", "token"]);
  t.deepEqual(JSON.parse(seen[1]!.body), { refreshToken: jwt("refresh-1") });
});

test("a token of a short life is renewed at nine tenths of it, counted from when it was asked for", async (t) => {
  for (const loginMs of [0, 20_000]) {
    const { host, token } = begin((request, count) =>
      host.clock.timer(loginMs, () => request.reply(200, { token: jwt(`user-${count}`, 100) })),
    );
    await token();
    await host.clock.advance(89_000 - loginMs);
    t.is(await token(), jwt("user-1", 100));
    await host.clock.advance(1000);
    t.is(await token(), jwt("user-2", 100));
  }
});

test("a token that does not state its life is used until it is refused", async (t) => {
  for (const plain of [
    "abc",
    "a.b.c",
    `a.${Buffer.from('{"exp":1,"iat":2}').toString("base64url")}.c`,
    "a.e30.c",
    "a.!!.c",
  ]) {
    const { host, token } = begin((request, count) =>
      request.reply(200, { token: count === 1 ? plain.replace("!!", "--") : "second" }),
    );
    const first = await token();
    await host.clock.advance(1e8);
    t.is(await token(), first);
    t.is(await token(1000, first), "second");
  }
});

test("one login, however many ask, and one renewal, however many were refused", async (t) => {
  const { host, session, token, paths } = begin();
  const all = async (refused?: string) => {
    const asked = Promise.all(Array.from({ length: 20 }, () => session.token(1000, refused)));
    await host.clock.advance(1000);
    return [...new Set(await asked)];
  };
  t.deepEqual(await all(), [jwt("user-1")]);
  t.deepEqual(await all(jwt("user-1")), [jwt("user-2")]);
  t.is(await token(1000, jwt("user-1")), jwt("user-2"), "renewed already");
  t.deepEqual(paths(), ["login", "login"]);
});

test("a login that brings the token that was refused, or one of no life, is not repeated", async (t) => {
  for (const life of [9000, 0.001]) {
    const { token, paths } = begin((request) => request.reply(200, { token: jwt("same", life) }));
    t.is(await token(), jwt("same", life));
    t.is(await token(20_000, jwt("same", life)), jwt("same", life));
    t.deepEqual(paths(), ["login", "login"]);
  }
});

test("a refresh that is refused is followed by a login", async (t) => {
  const { host, token, paths } = begin((request, count) =>
    request.path.endsWith("/token") ? request.reply(401) : granted(request, count),
  );
  await token();
  await host.clock.advance(9_000_000);
  t.is(await token(), jwt("user-3"));
  t.deepEqual(paths(), ["login", "token", "login"]);
});

test("renews a refused JWT from elsewhere by its refresh token, as long as that is good", async (t) => {
  const own = { username: undefined, password: undefined, jwt: jwt("mine"), refreshToken: jwt("refresh-0") };
  const good = begin(granted, own);
  t.is(await good.token(), jwt("mine"));
  t.is(await good.token(1000, jwt("mine")), jwt("user-1"));
  t.deepEqual(good.paths(), ["token"]);
  const over = begin((request) => request.reply(401), own);
  t.is(await over.token(1000, jwt("mine")), "FORBIDDEN 401: login: the JWT is invalid or has expired (401)");
  t.is(await over.token(1000, jwt("mine")), "FORBIDDEN 401: login: the JWT is invalid or has expired (401)");
  t.deepEqual(over.paths(), ["token"]);
});

test("a busy platform is asked to log in again, with pauses, until the time limit", async (t) => {
  const patient = begin((request, count) =>
    count < 3 ? request.reply(429, "", { "Retry-After": "2" }) : granted(request, count),
  );
  t.is(await patient.token(), jwt("user-3"));
  t.true(patient.host.clock.now() >= 4000);
  const vain = begin((request) => request.reply(503));
  t.is(await vain.token(20_000), "BUSY 503: login: not available (503) until the time limit");
  t.true(vain.seen.length < 12);
});

test("a login that brings no token is reported", async (t) => {
  const foreign = "LOST: login: foreign answer";
  for (const [answer, expected] of [
    [(request) => request.reply(200, "<html>"), foreign],
    [(request) => request.reply(200, {}), foreign],
    [(request) => request.reply(200, { token: "a\r\nEvil: 1" }), foreign],
    [(request) => request.reply(302, "", { Location: "http://evil.test/" }), `${foreign} (status 302)`],
    [(request) => request.reply(401), "LOGIN 401: login: wrong user name or password (401)"],
    [(request) => request.reply(404), "LOGIN 404: login: no login service at this URL (404)"],
    [({ peer }) => peer.reset(), "LOST: login: connection reset"],
    [() => {}, "TIMEOUT: login: no answer within the time limit"],
  ] as [Answer, string][]) {
    const { token, host } = begin(answer);
    t.is(await token(20_000), expected);
    t.true(host.net.peers.every(({ name }) => name === "platform.test"));
  }
});

test("close: whoever waits is stopped, and nothing is left behind", async (t) => {
  const { host, session } = begin(() => {});
  const waiting = session.token().catch(textOf);
  await host.clock.advance(1000);
  session.close();
  await host.clock.advance(10);
  t.is(await waiting, "STOPPED: login: the session is closed");
  t.is(await session.token().catch(textOf), "STOPPED: login: the session is closed");
  t.is(host.clock.waiting, 0);
});

test("wrong options of a session are reported all at once, and none is quoted", (t) => {
  const wrong = (options: object): string | undefined =>
    t.throws(() => new Session(fakeHost(), options as SessionOptions), { instanceOf: ReportError })?.message;
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
