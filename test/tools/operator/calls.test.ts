import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
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
    .reply(200, '{"email":"tenant@thingsboard.org"}', json);
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
    () => nock(url).post("/api/auth/login").reply(200, '{"scope":"PRE_VERIFICATION_TOKEN"}', json),
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
  // The answer with a package's image in it once overflowed the stack.
  for (const piece of ["x", '\\"']) {
    const large = parseUnrounded(`{"data":"${piece.repeat(12e6)}","size":12345678901234567890}`);
    t.like(large, { size: "12345678901234567890" });
  }
});
