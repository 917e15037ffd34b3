import test from "ava";
import { ReportError, Session, type SessionOptions } from "../../../src/report/index.js";
import { fakeHost } from "../../fakes/host.js";
import { type SeenRequest, serve } from "../../fakes/server.js";
import { jwt, textOf, URL, USER } from "./rig.js";

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
  t.is(
    await over.token(1000, jwt("mine")),
    "FORBIDDEN 401: login: the JWT is not valid, or has expired (401)",
  );
  t.is(
    await over.token(1000, jwt("mine")),
    "FORBIDDEN 401: login: the JWT is not valid, or has expired (401)",
  );
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

for (const status of [401, 403]) {
  test(`a login that is answered ${status} is a wrong name or password, and is not repeated`, async (t) => {
    const { token, seen } = begin((request) => request.reply(status, { message: `no ${USER.password}` }));
    t.is(await token(), `LOGIN ${status}: login: wrong user name or password (${status})`);
    t.is(seen.length, 1);
  });
}

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
  ["404", (request) => request.reply(404), "LOGIN 404: login: no platform logs in here (404)"],
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
    "url is a text that begins with http:// or https://; username and password go together",
  );
  t.is(wrong({ url: URL }), "username and password, or a jwt, are needed");
  t.is(wrong({ url: URL, jwt: "s3cret\r\n" }), "jwt is a text of letters, digits and . _ ~ + / = -");
  t.is(
    wrong({ url: URL, username: "", password: 7 }),
    "username is a text that is not empty; password is a text that is not empty",
  );
});
