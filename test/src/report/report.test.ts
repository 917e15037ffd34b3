import test from "ava";
import { ReportError, Reports, Session, type SessionOptions } from "../../../src/report/index.js";
import { POOL_DEFAULTS, WorkerPool } from "../../../tools/platform/rest/worker-pool.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { type SeenRequest, serve } from "../../fakes/server.js";
import { build, jwt, REPORT, type Rig, ROWS, rig, textOf, URL, USER, VIEW } from "./rig.js";

const BEGUN = '{"columnLabels":["a"],"dataTable":[{"a":1},{"a":"';
const ok = (request: { reply(status: number, body: string): void }): void => request.reply(200, REPORT);

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

const REFUSED: [question: object, message: string][] = [
  [{ viewConfigId: "../../x" }, "viewConfigId must be a UUID"],
  [{ viewConfigId: undefined }, "viewConfigId must be a UUID"],
  [{ rangeStartTs: 2, rangeEndTs: 1 }, "rangeStartTs must not be after rangeEndTs"],
  [{ rangeStartTs: 1.5 }, "rangeStartTs must be a whole number of ms since 1970"],
  [{ rangeEndTs: Number.NaN }, "rangeEndTs must be a whole number of ms since 1970"],
  [{ rangeEndTs: 1e300 }, "rangeEndTs must be a whole number of ms since 1970"],
  [{ filters: [] }, "filters must be an object of arrays"],
  [{ filters: { a: "x" } }, "each filter must be an array of strings"],
  [{ filters: { a: ["x", 1] } }, "each filter must be an array of strings"],
  [{ timeoutMs: 0 }, "invalid timeoutMs: expected a number of ms, more than 0 and up to 20 days"],
  [{ timeoutMs: Number.NaN }, "invalid timeoutMs: expected a number of ms, more than 0 and up to 20 days"],
];

for (const [question, message] of REFUSED) {
  test(`refused before anything is sent: ${Object.entries(question)
    .map(([name, value]) => `${name} ${JSON.stringify(value) ?? value}`)
    .join(", ")}`, async (t) => {
    const made = rig(ok);
    t.is(textOf((await build(made, question)).error), `BAD_VALUE: ${message}`);
    t.deepEqual(made.seen, []);
    t.is(made.host.net.peers.length, 0);
  });
}

/** Other statuses: nock.test.ts. */
const STATUSES: [status: number, body: string, expected: string][] = [
  [500, "boom", "REFUSED 500: report: the platform answered 500"],
  [302, "", "LOST: report: foreign answer (status 302)"],
  [204, "", "MALFORMED: report: the answer is malformed or incomplete (row 1)"],
];

for (const [status, body, expected] of STATUSES) {
  test(`${status}${body === "" ? "" : " with a text"} is reported at once, without what the platform said`, async (t) => {
    const made = rig((request) => request.reply(status, body === "" ? "" : `${body} ${request.headers.jwt}`));
    t.is(textOf((await build(made)).error), expected);
    t.is(made.seen.length, 2);
  });
}

for (const status of [401, 403]) {
  test(`${status} to a JWT that was got in another way is an error at once`, async (t) => {
    const made = rig((request) => request.reply(status), {
      session: { username: undefined, password: undefined, jwt: jwt("mine") },
    });
    t.is(
      textOf((await build(made)).error),
      `FORBIDDEN ${status}: report: the JWT is invalid or has expired (${status})`,
    );
    t.is(made.seen.length, 1);
  });
}

test("one fresh login, also when the platform is busy between", async (t) => {
  const statuses = [403, 429, 503, 429, 200];
  const made = rig((request, count) => request.reply(statuses[count - 1]!, REPORT), {
    login: (request) => request.reply(200, { token: jwt("same") }),
  });
  t.deepEqual((await build(made)).rows, ROWS);
  t.is(made.seen.filter(({ path }) => path.endsWith("login")).length, 2);
  statuses.splice(0, 5, 403, 429, 403, 403, 403);
  const again = rig((request, count) => request.reply(statuses[count - 1]!), {
    login: (request) => request.reply(200, { token: jwt("same") }),
  });
  t.regex(textOf((await build(again)).error), /^FORBIDDEN 403/);
  t.is(again.seen.filter(({ path }) => path.endsWith("login")).length, 2);
});

for (const status of [429, 503]) {
  test(`${status} with Retry-After: not asked again before its time`, async (t) => {
    const made = rig((request, count) =>
      count < 3 ? request.reply(status, "", { "Retry-After": "7" }) : request.reply(200, REPORT),
    );
    const { rows, ms } = await build(made);
    t.deepEqual(rows, ROWS);
    t.true(ms >= 14_000 && ms < 14_000 + 3100, `${ms}`);
  });
}

test("429 without Retry-After: random waits that grow, until the time limit", async (t) => {
  const times = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const made: Rig = rig((request) => request.reply(429), { seed });
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

test("reports of one client go one after the other, on one connection, in the order in which they were asked", async (t) => {
  let [open, most] = [0, 0];
  const made = rig((request) => {
    most = Math.max(most, ++open);
    made.host.clock.timer(100, () => {
      open--;
      request.reply(200, REPORT);
    });
  });
  const order: number[] = [];
  const all = Array.from({ length: 50 }, async (_, i) => {
    const end = await made.reports.build({ viewConfigId: VIEW }, { row: () => {} });
    order.push(i);
    return end.rows;
  });
  await made.host.clock.runUntil(() => order.length === 50);
  t.deepEqual(await Promise.all(all), Array(50).fill(2));
  t.deepEqual(
    order,
    Array.from({ length: 50 }, (_, i) => i),
  );
  t.is(most, 1);
  t.is(made.logins(), 1);
  // One for the login, one for all reports; both are given back.
  t.is(made.host.net.peers.length, 2);
  await made.host.clock.advance(10);
  t.true(made.host.net.peers.every(({ closed }) => closed));
  t.is(made.host.clock.waiting, 0);
});

test("a report whose turn does not come before its deadline fails with a reason, and the one before it is not harmed", async (t) => {
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

test("a report that takes long to be built is waited for: silence counts once the answer has begun", async (t) => {
  const made = rig((request) => made.host.clock.timer(50_000, () => ok(request)), {
    reports: { idleMs: 2000 },
  });
  t.deepEqual((await build(made)).rows, ROWS);
});

test("the taker learns how many bytes came, in the end all of them", async (t) => {
  const made = rig(ok);
  const bytes: number[] = [];
  let over = false;
  const taker = { row: () => {}, received: (so: number) => void bytes.push(so) };
  made.reports.build({ viewConfigId: VIEW }, taker).finally(() => {
    over = true;
  });
  await made.host.clock.runUntil(() => over);
  t.is(bytes.at(-1), REPORT.length);
  t.deepEqual(
    bytes,
    [...new Set(bytes)].sort((one, other) => one - other),
  );
});

test("no answer is a time-out at timeoutMs", async (t) => {
  const made = rig(() => {});
  const { error, ms } = await build(made, { timeoutMs: 5000 });
  t.is(textOf(error), "TIMEOUT: report: not complete within the time limit");
  t.is(Math.round(ms), 5000);
});

test("an answer that has begun and falls silent is given up, and the next report is built", async (t) => {
  let stuck = true;
  const made = rig(
    (request) => {
      if (!stuck) return ok(request);
      stuck = false;
      request.peer.send(`HTTP/1.1 200 \r\nContent-Length: 1000\r\n\r\n${REPORT.slice(0, 44)}`);
    },
    { reports: { idleMs: 2000 } },
  );
  const { error, ms, rows } = await build(made, { timeoutMs: 60_000 });
  t.is(textOf(error), "TIMEOUT: report: no more data from the platform after 1 rows");
  t.deepEqual(rows, [{ a: 1 }]);
  t.true(ms <= 4100, `${ms}`);
  t.deepEqual((await build(made)).rows, ROWS);
});

test("an answer that comes a byte a second goes on until the time limit", async (t) => {
  const made = rig(
    ({ peer }) => {
      peer.send("HTTP/1.1 200 \r\nContent-Length: 1000\r\n\r\n");
      let at = 0;
      const drip = (): void => {
        peer.send(REPORT.charAt(at++ % REPORT.length));
        made.host.clock.timer(1000, drip);
      };
      drip();
    },
    { reports: { idleMs: 2000 } },
  );
  const { error, ms } = await build(made, { timeoutMs: 30_000 });
  t.is(textOf(error), "TIMEOUT: report: not complete within the time limit after 0 rows");
  t.is(Math.round(ms), 30_000);
});

for (const [how, end] of [
  ["closed", "end"],
  ["reset", "reset"],
] as const) {
  test(`a connection ${how} in the middle is an error that says how many rows there were`, async (t) => {
    const made = rig(({ peer }) => {
      peer.send(`HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n2c\r\n${REPORT.slice(0, 44)}\r\n`);
      peer[end]();
    });
    t.regex(textOf((await build(made)).error), /^LOST: report: connection .* after 1 rows$/);
    t.is(made.seen.length, 2);
  });
}

test("an answer without a length that breaks off is no report", async (t) => {
  const made = rig(({ peer }) => {
    peer.send(`HTTP/1.1 200 \r\n\r\n${REPORT.slice(0, -1)}`);
    peer.end();
  });
  t.is(textOf((await build(made)).error), "MALFORMED: report: the answer is malformed or incomplete (row 3)");
});

test("chunks with extensions and trailers make no difference", async (t) => {
  const made = rig(({ peer }) => {
    const chunks = REPORT.match(/.{1,7}/g)!.map((part) => `${part.length.toString(16)};x=y\r\n${part}\r\n`);
    peer.send(`HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\nX-Sum: 1\r\n\r\n`);
  });
  t.deepEqual((await build(made)).rows, ROWS);
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

test("neither the JWT nor the password is ever in a log or in an error", async (t) => {
  const texts: string[] = [];
  for (const [status, body] of [
    [200, "<html>"],
    [400, "x"],
    [403, "x"],
    [404, "x"],
    [500, "x"],
    [200, "{"],
  ] as const) {
    for (const jwtIn of ["header", "query"] as const) {
      const made = rig(
        (request) => request.reply(status, `${body}${request.headers.jwt ?? request.path}${USER.password}`),
        { reports: { jwtIn } },
      );
      texts.push(textOf((await build(made)).error), ...made.host.lines);
    }
  }
  t.true(texts.length >= 12);
  for (const text of texts) t.notRegex(text, /eyJ|pa55w0rd|jwt=/);
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

type Answer = (request: SeenRequest, count: number) => void;

const granted: Answer = (request, count) =>
  request.reply(200, { token: jwt(`user-${count}`), refreshToken: jwt(`refresh-${count}`) });

function begin(answer: Answer = granted, options: Partial<SessionOptions> = {}) {
  const host = fakeHost();
  let count = 0;
  const seen = serve(host.net, (request) => answer(request, ++count));
  const session = new Session(host, { url: URL, ...USER, ...options });
  /** The token, or what went wrong. */
  const token = async (timeoutMs?: number, refused?: string): Promise<string> => {
    let result: string | undefined;
    session.token(timeoutMs, refused).then(
      (good) => {
        result = good;
      },
      (error) => {
        result = textOf(error);
      },
    );
    await host.clock.runUntil(() => result !== undefined);
    return result!;
  };
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

test("a token of a short life is renewed when nine tenths of it are over", async (t) => {
  const { host, token } = begin((request, count) => request.reply(200, { token: jwt(`user-${count}`, 100) }));
  await token();
  await host.clock.advance(89_000);
  t.is(await token(), jwt("user-1", 100));
  await host.clock.advance(1000);
  t.is(await token(), jwt("user-2", 100));
});

test("the life of a token begins when it was asked for: a slow login does not lengthen it", async (t) => {
  const { host, token } = begin((request, count) =>
    host.clock.timer(20_000, () => request.reply(200, { token: jwt(`user-${count}`, 100) })),
  );
  t.is(await token(), jwt("user-1", 100));
  await host.clock.advance(69_000);
  t.is(await token(), jwt("user-1", 100));
  await host.clock.advance(1000);
  t.is(await token(), jwt("user-2", 100));
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

test("one login, however many ask", async (t) => {
  const { host, session, seen } = begin();
  const all = Promise.all(Array.from({ length: 20 }, () => session.token()));
  await host.clock.advance(1000);
  t.deepEqual(new Set(await all), new Set([jwt("user-1")]));
  t.is(seen.length, 1);
});

test("one renewal, however many were refused, and none for a token that was renewed already", async (t) => {
  const { host, session, token, paths } = begin();
  const first = await token();
  const all = Promise.all(Array.from({ length: 20 }, () => session.token(1000, first)));
  await host.clock.advance(1000);
  t.deepEqual(new Set(await all), new Set([jwt("user-2")]));
  t.is(await token(1000, first), jwt("user-2"));
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

test("a JWT that was got in another way that is refused is renewed by its refresh token, as long as that is good", async (t) => {
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

test("a refresh that finds the platform busy is tried again with the same refresh token", async (t) => {
  const own = { username: undefined, password: undefined, jwt: jwt("mine"), refreshToken: jwt("refresh-0") };
  const { token, seen } = begin(
    (request, count) => (count < 3 ? request.reply(503) : granted(request, count)),
    own,
  );
  t.is(await token(60_000, jwt("mine")), jwt("user-3"));
  t.deepEqual(new Set(seen.map(({ body }) => body)), new Set([`{"refreshToken":"${jwt("refresh-0")}"}`]));
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

for (const [what, answer, expected] of [
  ["a page in place of a token", (request) => request.reply(200, "<html>"), "LOST: login: foreign answer"],
  ["no token", (request) => request.reply(200, {}), "LOST: login: foreign answer"],
  [
    "a token that would add a header",
    (request) => request.reply(200, { token: "a\r\nEvil: 1" }),
    "LOST: login: foreign answer",
  ],
  [
    "a redirect",
    (request) => request.reply(302, "", { Location: "http://evil.test/" }),
    "LOST: login: foreign answer (status 302)",
  ],
  ["404", (request) => request.reply(404), "LOGIN 404: login: no login service at this URL (404)"],
  ["a closed connection", ({ peer }) => peer.reset(), "LOST: login: connection reset"],
  ["nothing", () => {}, "TIMEOUT: login: no answer within the time limit"],
] as [string, Answer, string][]) {
  test(`a login answered by ${what} is reported`, async (t) => {
    const { token, host } = begin(answer);
    t.is(await token(20_000), expected);
    t.true(host.net.peers.every(({ name }) => name === "platform.test"));
  });
}

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

// Fifty clients at once, each on a machine of its own, against the local platform's pool and queue.

const CLIENTS = 50;
/** A report takes that long. */
const TAKES_MS = 2000;

interface Crowd {
  /** Rows of each client's report, or what went wrong. */
  readonly ends: (number | string)[];
  /** When a report was asked for, and when it was refused. */
  readonly asked: number[];
  readonly refused: number[];
}

/** `seed` draws the waits. */
async function crowd(seed: number, headers: Record<string, string>): Promise<Crowd> {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const network = new FakeNet(clock);
  const pool = new WorkerPool({ ...POOL_DEFAULTS, threadPoolSize: 2 });
  const [asked, refused]: [number[], number[]] = [[], []];
  serve(network, async (request) => {
    asked.push(clock.now());
    const place = pool.enter();
    if (!place) {
      refused.push(clock.now());
      return request.reply(429, "", headers);
    }
    await place.running;
    clock.timer(TAKES_MS, () => {
      place.leave();
      request.reply(200, REPORT);
    });
  });
  const ends: Crowd["ends"] = [];
  for (let i = 0; i < CLIENTS; i++) {
    const host = fakeHost({ clock, network, seed: seed * 1000 + i });
    const session = new Session(host, { url: URL, jwt: jwt("me") });
    const reports = new Reports(host, { url: URL, session });
    let rows = 0;
    const taker = { row: () => void rows++ };
    reports.build({ viewConfigId: VIEW, timeoutMs: 600_000 }, taker).then(
      () => ends.push(rows),
      (error) => ends.push(textOf(error)),
    );
  }
  await clock.runUntil(() => ends.length === CLIENTS, 1e7);
  return { ends, asked, refused };
}

/** The most that fell into one second of those after the first. */
function busiest(times: readonly number[]): number {
  const later = times.filter((at) => at >= 1000);
  return Math.max(0, ...later.map((at) => later.filter((other) => other >= at && other < at + 1000).length));
}

for (const [how, headers] of [
  ["", {}],
  [" that says when to come back", { "Retry-After": "5" }],
] as const) {
  test(`50 reports at once against a queue of 10${how}: all are built, none is lost, and nobody hammers`, async (t) => {
    for (const seed of [1, 2]) {
      const { ends, asked, refused } = await crowd(seed, headers);
      t.deepEqual(ends, Array(CLIENTS).fill(2), `seed ${seed}`);
      const seconds = (asked.at(-1)! - asked[0]!) / 1000;
      const rate = asked.length / seconds;
      t.log(
        `seed ${seed}: ${refused.length} times 429 in ${seconds.toFixed(0)} s, ${rate.toFixed(1)} requests a second, ${busiest(asked)} in the busiest`,
      );
      // 50 reports of 2 s by two threads take 50 s: of each client a few requests a minute, and no more than it began with at once.
      t.true(refused.length >= CLIENTS - 12);
      t.true(refused.length <= CLIENTS * 8, `${refused.length}`);
      t.true(busiest(asked) <= CLIENTS);
      t.true(rate < 6, `${rate}`);
    }
  });
}
