import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { lossyNumber, parseUnrounded } from "../../../tools/operator/typed-json.js";
import { json, loggedIn } from "./logged-in.js";

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

test.serial("credentials are changed, and no error shows the token", async (t) => {
  const { operator, platform } = await loggedIn();
  const changed = { credentialsType: "ACCESS_TOKEN", credentialsId: "T2-secret" };
  platform
    .post("/api/device/credentials", '{"credentialsType":"ACCESS_TOKEN","credentialsId":"T2-secret"}')
    .reply(200, changed, json);
  t.is((await operator.devices.setCredentials(changed)).credentialsId, "T2-secret");
  platform.post("/api/device/credentials").reply(400, '{"message":"T2-secret is taken"}', json);
  const error = await t.throwsAsync(() => operator.devices.setCredentials(changed));
  t.regex(error.message, /\*\*\* is taken/);
});

test.serial("time series are deleted by their keys", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .delete("/api/plugins/telemetry/DEVICE/d-1/timeseries/delete?keys=a%2Cb&deleteAllDataForKeys=true")
    .reply(200);
  await operator.timeSeries.delete("d-1", ["a", "b"]);
  t.true(platform.isDone());
});

const entry =
  '{"id":{"entityType":"OTA_PACKAGE","id":"o-1"},"type":"FIRMWARE","title":"desk","version":"2.0.0","hasData":true,' +
  '"checksumAlgorithm":"SHA256","checksum":"2cf24dba","dataSize":5}';

nock.disableNetConnect();

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
      .reply(200, entry, json);
    const externalFile = { url: "https://files.test/2.bin", dataSize: 9 };
    await operator.ota.create({ title: "desk", version: "2.0.0", deviceProfileId: "p-1", externalFile });
    t.true(platform.isDone());
  },
);

const url = "http://platform.test:8080";
const first = '{"token":"first.jwt.token","refreshToken":"first.refresh.token","scope":null}';
const second = '{"token":"second.jwt.token","refreshToken":"second.refresh.token","scope":null}';
const expired = '{"status":401,"message":"Token has expired","errorCode":11,"timestamp":1760000000000}';
const restJson = { "content-type": "application/json" };

nock.disableNetConnect();

async function restLogin(): Promise<Operator> {
  nock(url).post("/api/auth/login").reply(200, first, restJson);
  const operator = new Operator({ url });
  await operator.login("tenant@thingsboard.org", "tenant");
  return operator;
}

const refusal = { instanceOf: OperatorError };

test.serial("a login posts name and password and takes no token along", async (t) => {
  const scope = nock(url, { badheaders: ["x-authorization", "authorization"] })
    .post("/api/auth/login", { username: "tenant@thingsboard.org", password: "tenant" })
    .matchHeader("content-type", "application/json")
    .reply(200, first, restJson);
  await new Operator({ url }).login("tenant@thingsboard.org", "tenant");
  t.true(scope.isDone());
});

test.serial("the token goes with each call after the login", async (t) => {
  const operator = await restLogin();
  nock(url)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(
      200,
      '{"id":{"entityType":"USER","id":"u-1"},"email":"tenant@thingsboard.org","authority":"TENANT_ADMIN"}',
      restJson,
    );
  t.is((await operator.user()).authority, "TENANT_ADMIN");
});

test.serial("a wrong password is an error with the status and without the password", async (t) => {
  const body =
    '{"status":401,"message":"Invalid username or password: hunter2","errorCode":10,"timestamp":1}';
  nock(url).post("/api/auth/login").reply(401, body, restJson);
  const error = await t.throwsAsync(
    () => new Operator({ url }).login("tenant@thingsboard.org", "hunter2"),
    refusal,
  );
  t.is(error.status, 401);
  t.is(error.message, "POST /api/auth/login: 401 Invalid username or password: ***");
});

test.serial("an expired token is refreshed once and the call repeated with the new one", async (t) => {
  const operator = await restLogin();
  const scope = nock(url)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(401, expired, restJson)
    .post("/api/auth/token", { refreshToken: "first.refresh.token" })
    .reply(200, second, restJson)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer second.jwt.token")
    .reply(200, '{"email":"tenant@thingsboard.org"}', restJson);
  t.is((await operator.user()).email, "tenant@thingsboard.org");
  t.true(scope.isDone());
});

test.serial("two calls with one expired token share one refresh", async (t) => {
  const operator = await restLogin();
  const scope = nock(url)
    .get("/api/auth/user")
    .twice()
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(401, expired, restJson)
    .post("/api/auth/token")
    .once()
    .reply(200, second, restJson)
    .get("/api/auth/user")
    .twice()
    .matchHeader("x-authorization", "Bearer second.jwt.token")
    .reply(200, '{"email":"tenant@thingsboard.org"}', restJson);
  const users = await Promise.all([operator.user(), operator.user()]);
  t.deepEqual(
    users.map((user) => user.email),
    ["tenant@thingsboard.org", "tenant@thingsboard.org"],
  );
  t.true(scope.isDone());
});

test.serial("a call refused again after the refresh is an error, not a second refresh", async (t) => {
  const operator = await restLogin();
  nock(url).get("/api/auth/user").twice().reply(401, expired, restJson);
  const refresh = nock(url).post("/api/auth/token").once().reply(200, second, restJson);
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.status, 401);
  t.true(refresh.isDone());
});

test.serial("an error names the call, the status and what the platform said", async (t) => {
  const operator = await restLogin();
  const body =
    '{"status":404,"message":"Device with id [d-1] is not found","errorCode":32,"timestamp":1760000000000}';
  nock(url).get("/api/device/d-1").reply(404, body, restJson);
  const error = await t.throwsAsync(() => operator.devices.get("d-1"), refusal);
  t.is(error.status, 404);
  t.is(error.message, "GET /api/device/d-1: 404 Device with id [d-1] is not found");
});

test.serial("an error holds neither the token nor a long or many-lined text of the platform", async (t) => {
  const operator = await restLogin();
  nock(url)
    .get("/api/auth/user")
    .reply(500, `bad first.jwt.token\r\n\u001b[2J${"x".repeat(5000)}`);
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.true(error.message.startsWith("GET /api/auth/user: 500 bad ***   [2Jxxx"));
  t.is(error.message.length, 200);
});

test.serial("a redirect is an error and is not followed", async (t) => {
  const operator = await restLogin();
  const elsewhere = nock("http://elsewhere.test").get("/api/auth/user").reply(200, "{}");
  nock(url).get("/api/auth/user").reply(302, "", { location: "http://elsewhere.test/api/auth/user" });
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.status, 302);
  t.false(elsewhere.isDone());
});

test.serial("no connection is an error with status 0", async (t) => {
  nock(url)
    .post("/api/auth/login")
    .replyWithError(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
  const error = await t.throwsAsync(() => new Operator({ url }).login("a", "b"), refusal);
  t.is(error.status, 0);
  t.regex(error.message, /^POST \/api\/auth\/login: no connection/);
});

test.serial("an answer that does not come in time is an error with status 0", async (t) => {
  nock(url).post("/api/auth/login").delay(10_000).reply(200, first, restJson);
  const operator = new Operator({ url, timeoutMs: 20 });
  const error = await t.throwsAsync(() => operator.login("a", "b"), refusal);
  t.is(error.message, "POST /api/auth/login: no answer in time");
});

test.serial("a 200 that is not JSON is an error", async (t) => {
  const operator = await restLogin();
  nock(url).get("/api/auth/user").reply(200, "<html>");
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.message, "GET /api/auth/user: the answer is not JSON");
});

test.serial("a login answer without a token is an error", async (t) => {
  nock(url).post("/api/auth/login").reply(200, '{"scope":"PRE_VERIFICATION_TOKEN"}', restJson);
  const error = await t.throwsAsync(() => new Operator({ url }).login("a", "b"), refusal);
  t.is(error.message, "login: the answer holds no token");
});

test.serial("a path before /api is kept, and a URL that is not http is refused", async (t) => {
  const scope = nock(url).post("/iot/api/auth/login").reply(200, first, restJson);
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
