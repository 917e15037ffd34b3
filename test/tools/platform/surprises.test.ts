// What a naive client gets wrong about requests, polls, RPC and provisioning: the surprises of docs/protocol.md by their numbers, in bytes.
import test from "ava";
import { Operator } from "../../../tools/operator/operator.js";
import { BOTH, DEPLOYED, inModes, startWire, until, type Wire } from "./http/wire.js";

const POLL = "rpc?timeout=20000";
const statuses = async (
  wire: Wire,
  requests: [method: string, path: string, body?: string][],
): Promise<number[]> => Promise.all(requests.map(async (request) => (await wire.ask(...request)).status));

test(
  "surprise 1: malformed or mistyped JSON is a 500 for ever, and 400 is for missing bodies and bad numbers in the address",
  inModes(DEPLOYED, async (t, wire) => {
    const { ask } = wire;
    for (const body of ['{"a":', "5", '"text"', "null", '{"ts":"soon","values":{"a":1}}']) {
      const answers = [await ask("POST", "telemetry", body), await ask("POST", "telemetry", body)];
      t.deepEqual([answers[0]?.status, answers[1]?.status], [500, 500], body);
      t.is(answers[0]?.text, answers[1]?.text);
    }
    t.regex((await ask("POST", "telemetry", "{1:}")).text, /^(?:com\.google\.gson|java\.io)\./);
    t.is((await ask("POST", "telemetry", "5")).text, "Can't parse value: 5");
    t.is((await ask("POST", "telemetry", " ")).text, "Can't parse value: null");
    t.is((await ask("POST", "telemetry", '{"ts":"soon","values":{"a":1}}')).text, "");
    const missing = await statuses(wire, [
      ["POST", "telemetry"],
      ["POST", "attributes", ""],
      ["POST", "rpc/0"],
    ]);
    t.deepEqual(missing, [400, 400, 400]);
    const numbers = await statuses(wire, [
      ["POST", "rpc/abc", "1"],
      ["GET", "rpc?timeout=1.5"],
      ["GET", "firmware?title=a&version=1&chunk=x"],
    ]);
    t.deepEqual(numbers, [400, 400, 400]);
  }),
);

for (const as of BOTH) {
  test(`surprise 2: a rate limit is an empty 500 or a hang and never 429, and a batch above the bucket never passes (${as})`, async (t) => {
    const rateLimits = { "device-points": "3:1", "device-messages": "1:1" };
    const { ask, hold, clock } = await startWire(t, { as, rateLimits });
    for (let tries = 0; tries < 3; tries++) {
      t.like(await ask("POST", "telemetry", '{"a":1,"b":2,"c":3,"d":4}'), { status: 500, text: "" });
      clock.advance(3_600_000);
    }
    t.is((await ask("POST", "telemetry", '{"a":1,"b":2,"c":3}')).status, 200);
    t.is((await ask("GET", "attributes")).status, 200);
    if (as === "documented") {
      t.like(await ask("GET", "attributes"), { status: 500, text: "" });
      return;
    }
    const held = await hold("GET", "attributes");
    clock.advance(30_000);
    t.is((await held.answer).status, 503);
  });
}

test(
  "surprise 3: a poll ends with an empty 408 at its own time, or with 503 at the server's 30 s, whichever is first",
  inModes(DEPLOYED, async (t, { hold, clock }) => {
    for (const path of ["rpc", "attributes/updates"]) {
      const short = await hold("GET", `${path}?timeout=20000`);
      clock.advance(20_000);
      t.like(await short.answer, { status: 408, text: "" });
      for (const query of ["?timeout=60000", ""]) {
        const long = await hold("GET", path + query);
        clock.advance(30_000);
        const { status, text } = await long.answer;
        t.is(status, 503);
        t.like(JSON.parse(text), { status: 503, message: null, errorCode: 2 });
        clock.advance(30_000);
      }
    }
  }),
);

test("surprise 3: behind the proxy it is shipped with, a poll of no stated length ends with the proxy's 504 at 50 s", async (t) => {
  const { hold, clock } = await startWire(t, { as: "deployed", behindProxy: true });
  const poll = await hold("GET", "rpc");
  clock.advance(50_000);
  const { status, headers } = await poll.answer;
  t.is(status, 504);
  t.regex(headers["content-type"] ?? "", /^text\/html/);
});

test(
  "surprise 4: the platform ends the connection after 400, 408, 500 and 503, and keeps it after 200, 401 and 404",
  inModes(DEPLOYED, async (t, { ask, hold, clock }) => {
    const closed: Record<number, boolean> = {};
    const note = (answer: { status: number; closed: boolean }) => {
      closed[answer.status] = answer.closed;
    };
    note(await ask("POST", "telemetry"));
    note(await ask("POST", "telemetry", "{"));
    note(await ask("POST", "telemetry", '{"a":1}'));
    note(await ask("POST", "/api/v1/unknown/telemetry", '{"a":1}'));
    note(await ask("GET", "firmware?title=a&version=1"));
    const polls = [await hold("GET", POLL), await hold("GET", "rpc")];
    clock.advance(30_000);
    for (const poll of polls) note(await poll.answer);
    t.deepEqual(closed, { 200: false, 400: true, 401: false, 404: false, 408: true, 500: true, 503: true });
  }),
);

test(
  "surprise 5: RPC ids begin at 0, and at 0 again when the platform restarts",
  inModes(BOTH, async (t, first) => {
    const second = await startWire(t, { as: first.as });
    for (const { ask, operator, deviceId, device } of [first, second]) {
      for (const id of [0, 1]) {
        const answer = operator.rpc.twoWay(deviceId, "count", { n: id });
        await until(() => device.rpc.pending === 1);
        t.deepEqual(JSON.parse((await ask("GET", POLL)).text), { id, method: "count", params: { n: id } });
        await ask("POST", `rpc/${id}`, "true");
        t.true(await answer);
      }
    }
  }),
);

test(
  "surprise 6: an unanswered two-way RPC comes with every poll until it is answered, and the next one waits behind it",
  inModes(BOTH, async (t, { ask, operator, deviceId, device }) => {
    const first = operator.rpc.twoWay(deviceId, "first");
    await until(() => device.rpc.pending === 1);
    const second = operator.rpc.twoWay(deviceId, "second");
    await until(() => device.rpc.pending === 2);
    const polled = async (): Promise<unknown> => JSON.parse((await ask("GET", POLL)).text).method;
    t.deepEqual([await polled(), await polled(), await polled()], ["first", "first", "first"]);
    await ask("POST", "rpc/0", '"one"');
    t.is(await polled(), "second");
    await ask("POST", "rpc/1", '"two"');
    t.deepEqual([await first, await second], ["one", "two"]);
  }),
);

test(
  "surprise 7: a one-way RPC right after a poll that timed out is lost, and its sender hears that all is well",
  inModes(BOTH, async (t, { ask, hold, operator, deviceId, device, clock }) => {
    const poll = await hold("GET", POLL);
    clock.advance(20_000);
    t.is((await poll.answer).status, 408);
    await operator.rpc.oneWay(deviceId, "lost");
    t.is(device.rpc.pending, 0);
    // The zombie is used up: this one waits for the next poll.
    const kept = operator.rpc.oneWay(deviceId, "kept");
    await until(() => device.rpc.pending === 1);
    t.is(JSON.parse((await ask("GET", POLL)).text).method, "kept");
    await kept;
  }),
);

test(
  "surprise 11: a doubled comma in a list of keys and an empty list of points hang until the server's 30 s",
  inModes(DEPLOYED, async (t, { hold, clock }) => {
    for (const request of [
      ["GET", "attributes?sharedKeys=a,,b"],
      ["GET", "attributes?clientKeys=,a"],
      ["POST", "telemetry", "[]"],
    ] as [string, string, string?][]) {
      const held = await hold(...request);
      clock.advance(29_999);
      let isAnswered = false;
      held.answer.then(() => {
        isAnswered = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      t.false(isAnswered);
      clock.advance(1);
      t.is((await held.answer).status, 503);
      clock.advance(30_000);
    }
  }),
);

test(
  "surprise 16: failures of provisioning are a 200, a wrong secret is NOT_FOUND, and a name works once",
  inModes(BOTH, async (t, { ask, platform }) => {
    const { key, secret } = platform.profile;
    const provision = async (changes: object) => {
      const body = { deviceName: "new", provisionDeviceKey: key, provisionDeviceSecret: secret, ...changes };
      const { status, text } = await ask("POST", "/api/v1/provision", JSON.stringify(body));
      return { http: status, ...JSON.parse(text) };
    };
    const notFound = { http: 200, errorMsg: "Provision data was not found!", status: "NOT_FOUND" };
    t.deepEqual(await provision({ provisionDeviceSecret: "wrong" }), notFound);
    t.deepEqual(await provision({ provisionDeviceKey: "wrong" }), notFound);
    const success = {
      http: 200,
      credentialsValue: "my-own-token",
      credentialsType: "ACCESS_TOKEN",
      status: "SUCCESS",
    };
    t.deepEqual(await provision({ token: "my-own-token" }), success);
    const failure = { http: 200, errorMsg: "Failed to provision device!", status: "FAILURE" };
    t.deepEqual(await provision({ token: "my-own-token" }), failure);
    // The answer may have been lost: the token that was proposed works all the same.
    t.is((await ask("POST", "/api/v1/my-own-token/telemetry", '{"a":1}')).status, 200);
  }),
);

test(
  "surprise 17: a claim is always a 200, and the first secret sticks",
  inModes(BOTH, async (t, { ask, platform }) => {
    t.like(await ask("POST", "claim", '{"secretKey":"first","durationMs":60000}'), { status: 200, text: "" });
    t.like(await ask("POST", "claim", '{"secretKey":"second","durationMs":60000}'), {
      status: 200,
      text: "",
    });
    const customer = new Operator({ url: platform.url });
    await customer.login("customer@thingsboard.org", "customer");
    await customer.devices.claim("greenhouse-7", "first");
    await t.throwsAsync(customer.devices.claim("greenhouse-7", "first"), { message: /400/ });
    t.like(await ask("POST", "claim"), { status: 200, text: "" });
  }),
);

test(
  "surprise 20: a client-side RPC that no rule chain answers gets no answer, and one that is answered is called text",
  inModes(DEPLOYED, async (t, { hold, clock }) => {
    const body = '{"method":"getCurrentTime","params":{}}';
    const held = await hold("POST", "rpc", body);
    clock.advance(30_000);
    t.is((await held.answer).status, 503);
    const { ask } = await startWire(t, { ruleChain: true });
    t.is((await ask("POST", "rpc", body)).headers["content-type"], "text/plain;charset=UTF-8");
    const asked = await ask("POST", "rpc", body, { Accept: "application/json" });
    t.is(asked.headers["content-type"], "application/json");
  }),
);

test(
  "surprise 21: a form's content type breaks a JSON body, and none at all does not",
  inModes(BOTH, async (t, { ask, as }) => {
    const post = async (type?: string) =>
      (await ask("POST", "telemetry", '{"a":1}', type === undefined ? {} : { "Content-Type": type })).status;
    t.is(await post(), 200);
    t.is(await post("text/plain"), 200);
    t.is(await post("application/octet-stream"), 200);
    t.is(await post("application/x-www-form-urlencoded"), as === "deployed" ? 500 : 400);
  }),
);

test(
  "surprise 22: the 403 of a deleted device is called JSON and is none, and 401 comes after it",
  inModes(BOTH, async (t, { ask, hold, operator, deviceId }) => {
    const poll = await hold("GET", "attributes/updates?timeout=20000");
    await operator.devices.delete(deviceId);
    const { status, text, headers } = await poll.answer;
    t.deepEqual([status, text, headers["content-type"]], [403, "Device was deleted!", "application/json"]);
    t.throws(() => JSON.parse(text));
    t.like(await ask("GET", POLL), { status: 401, text: "" });
  }),
);

test(
  "surprise 24: one status has bodies of several kinds: only the status can be relied on",
  inModes(DEPLOYED, async (t, { ask, operator, deviceId }) => {
    const { deviceProfileId } = await operator.devices.get(deviceId);
    const made = { title: "greenhouse", version: "2", deviceProfileId: deviceProfileId?.id ?? "" };
    const { id } = await operator.ota.create(made);
    await operator.ota.upload(id.id, Buffer.from("0123456789"));
    await operator.ota.assign(deviceId, id.id);
    const kinds = [
      await ask("POST", "telemetry"),
      await ask("GET", "rpc?a={}"),
      await ask("GET", "firmware?title=greenhouse&version=1"),
    ];
    t.deepEqual(
      kinds.map(({ status, headers }) => [status, headers["content-type"]?.split(";")[0]]),
      [
        [400, "application/json"],
        [400, "text/html"],
        [400, undefined],
      ],
    );
  }),
);
