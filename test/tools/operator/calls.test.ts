import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { allPages } from "../../../tools/operator/pages.js";
import { lossyNumber, parseUnrounded } from "../../../tools/operator/typed-json.js";

const url = "http://platform.test:8080";
const json = { "content-type": "application/json" };

const first = '{"token":"first.jwt.token","refreshToken":"first.refresh.token","scope":null}';
const second = '{"token":"second.jwt.token","refreshToken":"second.refresh.token","scope":null}';
const expired = '{"status":401,"message":"Token has expired","errorCode":11,"timestamp":1760000000000}';

async function loggedIn(): Promise<Operator> {
  nock(url).post("/api/auth/login").reply(200, first, json);
  const operator = new Operator({ url });
  await operator.login("tenant@thingsboard.org", "tenant");
  return operator;
}

const device =
  '{"id":{"entityType":"DEVICE","id":"d-1"},"createdTime":1760000000000,"name":"desk 1","type":"default","label":"kept",' +
  '"deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},"firmwareId":null}';

const user =
  '{"id":{"entityType":"USER","id":"u-1"},"email":"tenant@thingsboard.org","authority":"TENANT_ADMIN"}';

nock.disableNetConnect();
test.afterEach.always(() => nock.cleanAll());

test.serial("a device is created with a token of one's own, which no error shows", async (t) => {
  const operator = await loggedIn();
  const platform = nock(url).matchHeader("x-authorization", "Bearer first.jwt.token");
  platform.post("/api/device?accessToken=SECRET", '{"name":"desk 1"}').reply(200, device, json);
  t.is((await operator.devices.create({ name: "desk 1" }, "SECRET")).name, "desk 1");
  platform.post("/api/device?accessToken=SECRET").reply(400, '{"message":"SECRET is in use"}', json);
  const error = await t.throwsAsync(() => operator.devices.create({ name: "desk 1" }, "SECRET"));
  t.is(error?.message, "POST /api/device: 400 *** is in use");
});

test.serial("a secret that a server echoes from the URL or as JSON is hidden, too", async (t) => {
  const operator = await loggedIn();
  const secret = 'S+E/C "R\\ET';
  for (const form of [
    ...[secret, JSON.stringify(secret), encodeURIComponent(secret), "S%2bE%2fC+%22R%5cET"],
    new URLSearchParams({ accessToken: secret }).toString(),
  ]) {
    nock(url).post(/./).reply(404, `the requested URL ${form} was not found`);
    const error = await t.throwsAsync(() => operator.devices.create({ name: "desk 1" }, secret));
    t.regex(error?.message ?? "", /the requested URL (accessToken=)?"?\*{3}"? was not found/);
  }
});

const refusal = { instanceOf: OperatorError };

test.serial("an expired token is refreshed once, and two calls share the refresh", async (t) => {
  const operator = await loggedIn();
  const scope = nock(url)
    .get("/api/auth/user")
    .twice()
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(401, expired, json)
    .post("/api/auth/token", { refreshToken: "first.refresh.token" })
    .once()
    .reply(200, second, json)
    .get("/api/auth/user")
    .twice()
    .matchHeader("x-authorization", "Bearer second.jwt.token")
    .reply(200, user, json);
  const users = await Promise.all([operator.user(), operator.user()]);
  t.deepEqual(
    users.map((user) => user.email),
    ["tenant@thingsboard.org", "tenant@thingsboard.org"],
  );
  t.true(scope.isDone());
});

test.serial("a call refused again after the refresh is an error, not a second refresh", async (t) => {
  const operator = await loggedIn();
  nock(url).get("/api/auth/user").twice().reply(401, expired, json);
  const refresh = nock(url).post("/api/auth/token").once().reply(200, second, json);
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.status, 401);
  t.true(refresh.isDone());
});

// A call, what comes back, and the error: never with a secret, a control character or a long text.
for (const [title, answers, call, status, message] of [
  [
    "names the call, the status and what the platform said",
    () =>
      nock(url).get("/api/device/d-1").reply(404, '{"message":"Device with id [d-1] is not found"}', json),
    (operator: Operator) => operator.devices.get("d-1"),
    404,
    "GET /api/device/d-1: 404 Device with id [d-1] is not found",
  ],
  [
    "holds no password",
    () => nock(url).post("/api/auth/login").reply(401, '{"message":"Invalid password: hunter2"}', json),
    (operator: Operator) => operator.login("tenant@thingsboard.org", "hunter2"),
    401,
    "POST /api/auth/login: 401 Invalid password: ***",
  ],
  [
    "holds no session token, and is cut after 200 characters",
    () =>
      nock(url)
        .get("/api/auth/user")
        .reply(500, `bad first.jwt.token\r\n\u001b[2J${"x".repeat(5000)}`),
    (operator: Operator) => operator.user(),
    500,
    "GET /api/auth/user: 500 bad ***   [2J".padEnd(200, "x"),
  ],
  [
    "says that there is no connection",
    () => nock(url).post("/api/auth/login").replyWithError(new Error("refused")),
    (operator: Operator) => operator.login("a", "b"),
    0,
    "POST /api/auth/login: no connection",
  ],
  [
    "says that no answer came in time",
    () => nock(url).post("/api/auth/login").delay(10_000).reply(200, first, json),
    () => new Operator({ url, timeoutMs: 20 }).login("a", "b"),
    0,
    "POST /api/auth/login: no answer in time",
  ],
  [
    "says that a login brought no token",
    () => nock(url).post("/api/auth/login").reply(200, '{"scope":null}', json),
    (operator: Operator) => operator.login("a", "b"),
    200,
    "login: the answer holds no token",
  ],
] as const)
  test.serial(`an error ${title}`, async (t) => {
    const operator = await loggedIn();
    answers();
    const error = await t.throwsAsync<OperatorError>(async () => void (await call(operator)), refusal);
    t.deepEqual([error.status, error.message], [status, message]);
  });

test.serial("a second factor is named, with what to use instead", async (t) => {
  const half = '{"token":"half.jwt.token","refreshToken":null,"scope":"PRE_VERIFICATION_TOKEN"}';
  nock(url).post("/api/auth/login").reply(200, half, json);
  const error = await t.throwsAsync(() => new Operator({ url }).login("a", "b"), refusal);
  t.regex(error.message, /two-factor authentication: use an API key/);
});

test.serial("an API key goes with every call, and into no error", async (t) => {
  const apiKey = "tb_secret-key";
  const session = { apiKey, authority: "CUSTOMER_USER", customerId: "c-1" };
  const operator = new Operator({ url, session });
  const platform = nock(url).matchHeader("x-authorization", `ApiKey ${apiKey}`);
  platform.get("/api/customer/c-1/devices").query(true).reply(200, page([]), json);
  t.deepEqual((await operator.devices.list()).data, []);
  platform.get("/api/device/d-1").reply(401, `{"message":"no ${apiKey}"}`, json);
  const error = await t.throwsAsync(() => operator.devices.get("d-1"), refusal);
  t.is(error.message, "GET /api/device/d-1: 401 no ***");
});

const page = (data: unknown[], hasNext = false): string =>
  JSON.stringify({ data, hasNext, totalElements: data.length, totalPages: 1 });

test.serial("any call waits at 429, for a minute in all", async (t) => {
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  const session = { token: "first.jwt.token" };
  const operator = new Operator({ url, session, wait });
  const limit = '{"message":"Too many requests for current tenant!","errorCode":33,"status":429}';
  nock(url).post("/api/device").times(3).reply(429, limit, json).post("/api/device").reply(200, device, json);
  t.is((await operator.devices.create({ name: "desk 1" })).name, "desk 1");
  t.is(waits.length, 3);
  waits.length = 0;
  nock(url).get("/api/device/d-1").times(99).reply(429, limit, json);
  const error = await t.throwsAsync(() => operator.devices.get("d-1"), refusal);
  t.is(error.status, 429);
  t.is(Math.round(waits.reduce((sum, ms) => sum + ms, 0)), 60_000);
});

// What no platform of this kind answers, and who would believe it: an error each, never a TypeError
// and never a list without end.
for (const [title, answer] of [
  ["an empty page with another to come", page([], true)],
  ["no page", "{}"],
  ["null", "null"],
  ["a list of null", page([null])],
  ["an entity without an id", page([{ name: "desk 1" }])],
  ["text", '"ok"'],
  ["nothing", ""],
] as const)
  test.serial(`refuses ${title}`, async (t) => {
    const operator = await loggedIn();
    nock(url).get("/api/tenant/devices").query(true).times(3).reply(200, answer, json);
    nock(url).post("/api/entitiesQuery/find").reply(200, answer, json);
    nock(url).get("/api/device/d-1").reply(200, answer, json);
    const query = { page: 0, pageSize: 1, entityFields: [] };
    for (const call of [
      () => allPages((number) => operator.devices.list({ page: number })),
      () => operator.devices.get("d-1"),
      () => operator.entities.devices(query),
    ])
      t.regex((await t.throwsAsync(call, refusal)).message, /: unexpected answer: /);
  });

for (const [title, pageOf] of [
  ["that repeats a page", () => ({ data: [1], hasNext: true, totalElements: 1e9, totalPages: 1e9 })],
  ["of ever more pages", (n: number) => ({ data: [n], hasNext: true, totalElements: 1e9, totalPages: 1e9 })],
  ["that exceeds its count", (n: number) => ({ data: [n], hasNext: true, totalElements: 3, totalPages: 3 })],
] as const)
  test(`a list ${title} ends with an error`, async (t) => {
    let read = 0;
    const pages = allPages(async (number) => pageOf(read++ + number));
    t.regex((await t.throwsAsync(pages, refusal)).message, /the list of the platform does not end/);
    t.true(read <= 10_000);
  });

test.serial("a redirect is an error and is not followed", async (t) => {
  const operator = await loggedIn();
  const elsewhere = nock("http://elsewhere.test").get("/api/auth/user").reply(200, "{}");
  nock(url).get("/api/auth/user").reply(302, "", { location: "http://elsewhere.test/api/auth/user" });
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.status, 302);
  t.false(elsewhere.isDone());
});

test.serial("a path before /api is kept, and a URL that is not http is refused", async (t) => {
  const scope = nock(url).post("/iot/api/auth/login").reply(200, first, json);
  await new Operator({ url: `${url}/iot/` }).login("a", "b");
  t.true(scope.isDone());
  t.throws(() => new Operator({ url: "ftp://platform.test" }), { instanceOf: TypeError });
});

test("returns a number that would be rounded as text and changes nothing else", (t) => {
  const json = String.raw`[{"key":"a","value":9007199254740993},{"k 12345678901234567890":"\" 9007199254740993","b":[-9007199254740992,1e400,1.5,9007199254740991]}]`;
  t.deepEqual(parseUnrounded(json), [
    { key: "a", value: "9007199254740993" },
    {
      "k 12345678901234567890": '" 9007199254740993',
      b: ["-9007199254740992", "1e400", 1.5, 9007199254740991],
    },
  ]);
  t.is(lossyNumber(json), "9007199254740993");
  t.is(lossyNumber('["12345678901234567890",9007199254740991,0.12345678901234567890,1e300]'), undefined);
  t.is(parseUnrounded("12345678901234567890"), "12345678901234567890");
  t.deepEqual(parseUnrounded('["a", 12345678901234567890, "1e999"]'), ["a", "12345678901234567890", "1e999"]);
  t.throws(() => parseUnrounded('{"a":12345678901234567890'), { instanceOf: SyntaxError });
  t.throws(() => parseUnrounded("[".repeat(1_001) + "]".repeat(1_001)), { instanceOf: RangeError });
  // The answer with a package's image in it once overflowed the stack.
  for (const piece of ["x", '\\"']) {
    const large = parseUnrounded(`{"data":"${piece.repeat(12e6)}","size":12345678901234567890}`);
    t.like(large, { size: "12345678901234567890" });
  }
});
