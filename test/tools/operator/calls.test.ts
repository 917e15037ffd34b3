import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { lossyNumber, parseUnrounded } from "../../../tools/operator/typed-json.js";
import { json, loggedIn, url } from "./logged-in.js";

const device =
  '{"id":{"entityType":"DEVICE","id":"d-1"},"createdTime":1760000000000,"name":"desk 1","type":"default","label":"kept",' +
  '"deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},"firmwareId":null}';

nock.disableNetConnect();
test.afterEach.always(() => nock.cleanAll());

test.serial("a whole number that JavaScript would round is read to its last digit", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .get("/api/plugins/telemetry/DEVICE/d-1/values/attributes/SHARED_SCOPE")
    .reply(200, '[{"lastUpdateTs":1,"key":"serial","value":9007199254740993}]', json);
  t.deepEqual(await operator.attributes.get("d-1", "SHARED_SCOPE"), { serial: "9007199254740993" });
});

test.serial("a device is created with a token of one's own, which no error shows", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.post("/api/device?accessToken=SECRET", '{"name":"desk 1"}').reply(200, device, json);
  t.is((await operator.devices.create({ name: "desk 1" }, "SECRET")).name, "desk 1");
  platform.post("/api/device?accessToken=SECRET").reply(400, '{"message":"SECRET is in use"}', json);
  const error = await t.throwsAsync(() => operator.devices.create({ name: "desk 1" }, "SECRET"));
  t.is(error?.message, "POST /api/device: 400 *** is in use");
});

test.serial("time series are deleted by their keys", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .delete("/api/plugins/telemetry/DEVICE/d-1/timeseries/delete?keys=a%2Cb&deleteAllDataForKeys=true")
    .reply(200);
  await operator.timeSeries.delete("d-1", ["a", "b"]);
  t.true(platform.isDone());
});

test.serial(
  "a package on an external host is created with its address and what is known of it",
  async (t) => {
    const { operator, platform } = await loggedIn();
    platform
      .post(
        "/api/otaPackage",
        '{"title":"desk","version":"2.0.0","type":"FIRMWARE","deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},' +
          '"usesUrl":true,"url":"https://files.test/2.bin","dataSize":9}',
      )
      .reply(200, "{}", json);
    const externalFile = { url: "https://files.test/2.bin", dataSize: 9 };
    await operator.ota.create({ title: "desk", version: "2.0.0", deviceProfileId: "p-1", externalFile });
    t.true(platform.isDone());
  },
);

const first = '{"token":"first.jwt.token","refreshToken":"first.refresh.token","scope":null}';
const second = '{"token":"second.jwt.token","refreshToken":"second.refresh.token","scope":null}';
const expired = '{"status":401,"message":"Token has expired","errorCode":11,"timestamp":1760000000000}';

async function restLogin(): Promise<Operator> {
  nock(url).post("/api/auth/login").reply(200, first, json);
  const operator = new Operator({ url });
  await operator.login("tenant@thingsboard.org", "tenant");
  return operator;
}

const refusal = { instanceOf: OperatorError };

test.serial("a login posts name and password and takes no token along", async (t) => {
  const scope = nock(url, { badheaders: ["x-authorization", "authorization"] })
    .post("/api/auth/login", { username: "tenant@thingsboard.org", password: "tenant" })
    .matchHeader("content-type", "application/json")
    .reply(200, first, json);
  await new Operator({ url }).login("tenant@thingsboard.org", "tenant");
  t.true(scope.isDone());
});

test.serial("an expired token is refreshed once, and two calls share the refresh", async (t) => {
  const operator = await restLogin();
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
  const operator = await restLogin();
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
    "holds no device token",
    () => nock(url).post("/api/device/credentials").reply(400, '{"message":"T2-secret is taken"}', json),
    (operator: Operator) =>
      operator.devices.setCredentials({ credentialsType: "ACCESS_TOKEN", credentialsId: "T2-secret" }),
    400,
    "POST /api/device/credentials: 400 *** is taken",
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
    "says that a 200 is not JSON",
    () => nock(url).get("/api/auth/user").reply(200, "<html>"),
    (operator: Operator) => operator.user(),
    200,
    "GET /api/auth/user: the answer is not JSON",
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
    const operator = await restLogin();
    answers();
    const error = await t.throwsAsync<OperatorError>(async () => void (await call(operator)), refusal);
    t.deepEqual([error.status, error.message], [status, message]);
  });

test.serial("a redirect is an error and is not followed", async (t) => {
  const operator = await restLogin();
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

test("a number that would be rounded is found, wherever it stands", (t) => {
  const lossy = {
    "9007199254740993": "9007199254740993",
    "-9007199254740992": "-9007199254740992",
    '{"a":[1,{"b":12345678901234567890}]}': "12345678901234567890",
    "[1.5,1e400]": "1e400",
  };
  for (const [json, number] of Object.entries(lossy)) t.is(lossyNumber(json), number);
});

test("what goes as it was typed is let through", (t) => {
  for (const json of [
    ...["9007199254740991", "-9007199254740991", "0.12345678901234567890", "1e300", "true", "{}"],
    ...['"12345678901234567890"', String.raw`{"a\"12345678901234567890":"\\"}`, "[0,-0.5,1E+2]"],
  ])
    t.is(lossyNumber(json), undefined, json);
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
  t.is(parseUnrounded("12345678901234567890"), "12345678901234567890");
  t.deepEqual(parseUnrounded('["a", 12345678901234567890, "1e999"]'), ["a", "12345678901234567890", "1e999"]);
  t.throws(() => parseUnrounded('{"a":12345678901234567890'), { instanceOf: SyntaxError });
});

test("a text of 12 MB is read, whatever characters it has", (t) => {
  for (const piece of ["x", "\\n", '\\"', "\\\\", "7"]) {
    const text = piece.repeat(12e6 / piece.length);
    const json = `{"data":"${text}","size":12345678901234567890}`;
    const value = parseUnrounded(json) as { data: string; size: string };
    t.is(value.size, "12345678901234567890");
    t.is(value.data.length, (JSON.parse(`"${piece}"`) as string).length * (12e6 / piece.length));
    t.is(lossyNumber(json), "12345678901234567890");
  }
});
