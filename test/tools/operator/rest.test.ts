import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";

const url = "http://platform.test:8080";
const first = '{"token":"first.jwt.token","refreshToken":"first.refresh.token","scope":null}';
const second = '{"token":"second.jwt.token","refreshToken":"second.refresh.token","scope":null}';
const expired = '{"status":401,"message":"Token has expired","errorCode":11,"timestamp":1760000000000}';
const json = { "content-type": "application/json" };

nock.disableNetConnect();
test.afterEach.always(() => nock.cleanAll());

async function loggedIn(): Promise<Operator> {
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

test.serial("the token goes with each call after the login", async (t) => {
  const operator = await loggedIn();
  nock(url)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(
      200,
      '{"id":{"entityType":"USER","id":"u-1"},"email":"tenant@thingsboard.org","authority":"TENANT_ADMIN"}',
      json,
    );
  t.is((await operator.user()).authority, "TENANT_ADMIN");
});

test.serial("a wrong password is an error with the status and without the password", async (t) => {
  const body =
    '{"status":401,"message":"Invalid username or password: hunter2","errorCode":10,"timestamp":1}';
  nock(url).post("/api/auth/login").reply(401, body, json);
  const error = await t.throwsAsync(
    () => new Operator({ url }).login("tenant@thingsboard.org", "hunter2"),
    refusal,
  );
  t.is(error.status, 401);
  t.is(error.message, "POST /api/auth/login: 401 Invalid username or password: ***");
});

test.serial("an expired token is refreshed once and the call repeated with the new one", async (t) => {
  const operator = await loggedIn();
  const scope = nock(url)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(401, expired, json)
    .post("/api/auth/token", { refreshToken: "first.refresh.token" })
    .reply(200, second, json)
    .get("/api/auth/user")
    .matchHeader("x-authorization", "Bearer second.jwt.token")
    .reply(200, '{"email":"tenant@thingsboard.org"}', json);
  t.is((await operator.user()).email, "tenant@thingsboard.org");
  t.true(scope.isDone());
});

test.serial("two calls with one expired token share one refresh", async (t) => {
  const operator = await loggedIn();
  const scope = nock(url)
    .get("/api/auth/user")
    .twice()
    .matchHeader("x-authorization", "Bearer first.jwt.token")
    .reply(401, expired, json)
    .post("/api/auth/token")
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

test.serial("an error names the call, the status and what the platform said", async (t) => {
  const operator = await loggedIn();
  const body =
    '{"status":404,"message":"Device with id [d-1] is not found","errorCode":32,"timestamp":1760000000000}';
  nock(url).get("/api/device/d-1").reply(404, body, json);
  const error = await t.throwsAsync(() => operator.devices.get("d-1"), refusal);
  t.is(error.status, 404);
  t.is(error.message, "GET /api/device/d-1: 404 Device with id [d-1] is not found");
});

test.serial("an error holds neither the token nor a long or many-lined text of the platform", async (t) => {
  const operator = await loggedIn();
  nock(url)
    .get("/api/auth/user")
    .reply(500, `bad first.jwt.token\r\n\u001b[2J${"x".repeat(5000)}`);
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.true(error.message.startsWith("GET /api/auth/user: 500 bad ***   [2Jxxx"));
  t.is(error.message.length, 200);
});

test.serial("a redirect is an error and is not followed", async (t) => {
  const operator = await loggedIn();
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
  nock(url).post("/api/auth/login").delay(10_000).reply(200, first, json);
  const operator = new Operator({ url, timeoutMs: 20 });
  const error = await t.throwsAsync(() => operator.login("a", "b"), refusal);
  t.is(error.message, "POST /api/auth/login: no answer in time");
});

test.serial("a 200 that is not JSON is an error", async (t) => {
  const operator = await loggedIn();
  nock(url).get("/api/auth/user").reply(200, "<html>");
  const error = await t.throwsAsync(() => operator.user(), refusal);
  t.is(error.message, "GET /api/auth/user: the answer is not JSON");
});

test.serial("a login answer without a token is an error", async (t) => {
  nock(url).post("/api/auth/login").reply(200, '{"scope":"PRE_VERIFICATION_TOKEN"}', json);
  const error = await t.throwsAsync(() => new Operator({ url }).login("a", "b"), refusal);
  t.is(error.message, "login: the answer holds no token");
});

test.serial("a path before /api is kept, and a URL that is not http is refused", async (t) => {
  const scope = nock(url).post("/iot/api/auth/login").reply(200, first, json);
  await new Operator({ url: `${url}/iot/` }).login("a", "b");
  t.true(scope.isDone());
  t.throws(() => new Operator({ url: "ftp://platform.test" }), { instanceOf: TypeError });
});
