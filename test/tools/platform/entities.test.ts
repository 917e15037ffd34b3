import test from "ava";
import { checksum } from "../../../tools/platform/core/ota/checksum.js";
import type { OtaPackage } from "../../../tools/platform/core/ota/packages.js";
import type { Strategy } from "../../../tools/platform/core/profiles.js";
import { TokenBucket } from "../../../tools/platform/core/rate-limits.js";
import { valueJson } from "../../../tools/platform/core/values.js";
import { createRig, type Rig, START, TOKEN, VirtualClock } from "./rig.js";

function ask(rig: Rig, fields: Record<string, unknown> = {}): string {
  const body = { provisionDeviceKey: "key", provisionDeviceSecret: "secret", ...fields };
  const { status, text } = rig.call("POST", "/api/v1/provision", JSON.stringify(body));
  return status === 200 ? text : `${status} ${text}`;
}

function strategy(rig: Rig, name: Strategy): void {
  rig.core.updateProfile(rig.profile, { ...rig.profile, strategy: name });
}

test(`a new device gets the token it proposed, or a random one`, (t) => {
  const rig = createRig();
  t.is(
    ask(rig, { deviceName: "new", token: "mine" }),
    '{"credentialsValue":"mine","credentialsType":"ACCESS_TOKEN","status":"SUCCESS"}',
  );
  t.is(rig.core.devices.byToken("mine")?.name, "new");
  t.regex(ask(rig, { deviceName: "newer" }), /^\{"credentialsValue":"[A-Za-z0-9]{20}"/);
  t.is(rig.core.devices.byName("new")?.profileId, rig.profile.id);
  t.is(
    rig.core.devices.byName("new")?.attributes.get("SERVER_SCOPE", "provisionState")?.value,
    "provisioned",
  );
});

test("a profile with certificate chains answers after a long silence, with nothing", (t) => {
  const rig = createRig();
  strategy(rig, "X509_CERTIFICATE_CHAIN");
  const body = '{"provisionDeviceKey":"key","provisionDeviceSecret":"secret"}';
  const asked = rig.call("POST", "/api/v1/provision", body);
  t.is(asked.status, undefined);
  rig.clock.advance(10_000);
  t.deepEqual([asked.status, asked.text], [500, ""]);
});

// What the device sends, and what the customer who claims it with `secret` gets after so many seconds.
for (const [title, sent, secret, afterSeconds, expected] of [
  ["that was never opened", [], "s", 0, "FAILURE"],
  ["with its secret", ['{"secretKey":"s","durationMs":60000}'], "s", 59, "SUCCESS"],
  ["with a wrong secret", ['{"secretKey":"s"}'], "wrong", 0, "FAILURE"],
  ["with the first of two secrets", ['{"secretKey":"s"}', '{"secretKey":"t"}'], "s", 0, "SUCCESS"],
  ["that is over", ['{"secretKey":"s","durationMs":"1000"}'], "s", 2, "FAILURE"],
  ["without a body, which lasts a day", [""], "", 86_399, "SUCCESS"],
] as const) {
  test(`a claim ${title}: ${expected}`, (t) => {
    const rig = createRig();
    const claim = (secret: string) => rig.core.claiming.claim(rig.device, "the-customer", secret);
    for (const body of sent) t.is(rig.call("POST", "claim", body).status, 200);
    rig.clock.advance(afterSeconds * 1_000);
    t.is(claim(secret), expected);
    // One customer gets a device, and a wrong secret voids the claim.
    t.is(claim("s"), expected === "SUCCESS" ? "CLAIMED" : "FAILURE");
    t.is(rig.device.customerId === "the-customer", expected === "SUCCESS");
  });
}

// From the real platform, of the text "hello".
for (const [algorithm, expected] of [
  ["MD5", "5d41402abc4b2a76b9719d911017c592"],
  ["SHA256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"],
  [
    "SHA384",
    "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
  ],
  [
    "SHA512",
    "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
  ],
  ["CRC32", "86a61036"],
  ["MURMUR3_32", "47fa8b24"],
  ["MURMUR3_128", "029bbd41b3a7d8cb191dae486a901e5b"],
] as const)
  test(`${algorithm} is written as the platform writes it`, (t) => {
    t.is(checksum(algorithm, Buffer.from("hello")), expected);
  });

test("Murmur checksums of nine bytes are written as the platform writes them", (t) => {
  t.is(checksum("MURMUR3_32", Buffer.from("123456789")), "82f3feb4");
  t.is(checksum("MURMUR3_128", Buffer.from("123456789")), "a4cc66db5e64843c05a11e3ac7faf899");
});

function upload(rig: Rig, version: string, text = "0123456789", tag?: string): OtaPackage {
  const fields = { type: "FIRMWARE", title: "greenhouse", version, tag, url: undefined } as const;
  const target = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  const file = { fileName: "app.bin", contentType: "application/octet-stream", checksum: undefined };
  rig.core.packages.upload(target, { ...file, bytes: Buffer.from(text), algorithm: "CRC32" });
  return target;
}

function assign(rig: Rig, target: OtaPackage | undefined): void {
  rig.core.updateDevice(rig.device, { ...fieldsOf(rig), firmwareId: target?.id });
}

function fieldsOf({ device: { name, profileId } }: Rig): { name: string; profileId: string } {
  return { name, profileId };
}

const shared = (rig: Rig): string[] =>
  rig.device.attributes.list("SHARED_SCOPE").map(([key, { value }]) => `${key}=${valueJson(value)}`);
const get = (rig: Rig, query = "", headers = {}) =>
  rig.call("GET", `firmware?title=greenhouse&version=2${query}`, "", headers);

test("an assignment notifies polls of the deletion, then of the values, and when repeated of nothing", (t) => {
  const rig = createRig();
  const target = upload(rig, "2");
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, target);
  rig.clock.advance(0);
  t.is(poll.text, '{"deleted":["fw_tag","fw_url"]}');
  t.deepEqual(shared(rig), []);
  const second = rig.call("GET", "attributes/updates?timeout=20000");
  rig.clock.advance(10);
  const set =
    '{"fw_title":"greenhouse","fw_version":"2","fw_size":10,"fw_checksum_algorithm":"CRC32","fw_checksum":"c6c784a6"}';
  t.is(second.text, set);
  const third = rig.call("GET", "attributes/updates?timeout=1000");
  assign(rig, target);
  rig.clock.advance(999);
  t.is(third.status, undefined);
});

test("an assignment leaves telemetry on what is to come, and deletes no tag that it sets", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, upload(rig, "2", "x", "night"));
  const state = () => rig.device.series.latest("fw_state")?.value;
  t.is(state(), "QUEUED");
  rig.clock.advance(1);
  t.is(state(), "INITIATED");
  t.is(poll.text, '{"deleted":["fw_url"]}');
  const found = ["title", "version", "tag", "ts"].map(
    (key) => rig.device.series.latest(`target_fw_${key}`)?.value,
  );
  t.deepEqual(found, ["greenhouse", "2", "night", BigInt(START)]);
});

test("taking an assignment away deletes every key in one notification", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  rig.clock.advance(10);
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, undefined);
  const keys = ["title", "version", "ts", "state", "size", "checksum", "checksum_algorithm", "url", "tag"];
  t.deepEqual(JSON.parse(poll.text), { deleted: keys.map((key) => `fw_${key}`) });
  t.deepEqual(shared(rig), []);
});

test("assignments are paced, and one that was replaced while it waited is skipped", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  assign(rig, upload(rig, "3"));
  rig.clock.advance(599);
  t.deepEqual(shared(rig), []);
  rig.clock.advance(10);
  t.true(shared(rig).includes('fw_version="3"'));
});

test("a package elsewhere has its address in fw_url, and no bytes here", (t) => {
  const rig = createRig();
  const target = rig.core.packages.create({
    type: "FIRMWARE",
    title: "greenhouse",
    version: "2",
    tag: undefined,
    profileId: rig.profile.id,
    url: "https://files.example.com/app.bin",
  });
  assign(rig, target);
  rig.clock.advance(10);
  t.deepEqual(shared(rig), [
    'fw_title="greenhouse"',
    'fw_version="2"',
    'fw_url="https://files.example.com/app.bin"',
  ]);
  t.deepEqual([get(rig).status, get(rig).text], [404, ""]);
});

test("what can't be assigned is refused", (t) => {
  const rig = createRig();
  const fields = { type: "FIRMWARE", title: "empty", version: "1", tag: undefined, url: undefined } as const;
  const empty = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  t.throws(() => assign(rig, empty), { message: "Can't assign firmware with empty data!" });
  const other = rig.core.packages.create({
    ...fields,
    title: "o",
    profileId: rig.core.profiles.default.id,
    url: "u",
  });
  t.throws(() => assign(rig, other), { message: "Can't assign firmware with different deviceProfile!" });
  const assigned = upload(rig, "2");
  assign(rig, assigned);
  t.throws(() => rig.core.deletePackage(assigned), { message: /cannot be deleted/ });
});

test("a wrong checksum, a second file and an empty one are refused at the upload", (t) => {
  const rig = createRig();
  const fields = { type: "FIRMWARE", title: "t", version: "1", tag: undefined, url: undefined } as const;
  const target = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  const file = { fileName: "f", contentType: "c", algorithm: "CRC32", bytes: Buffer.from("hello") } as const;
  const put = (change: object) => () =>
    rig.core.packages.upload(target, { ...file, checksum: undefined, ...change });
  t.throws(put({ checksum: "3610a686" }), { message: "Wrong otaPackage file!" });
  t.throws(put({ bytes: new Uint8Array(0) }));
  t.notThrows(put({ checksum: "86a61036" }));
  t.throws(put({}), { message: "Updating otaPackage data is prohibited!" });
});

test(`the file comes whole or in chunks, and past its end there is an empty 200`, (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  const whole = get(rig);
  t.deepEqual([whole.status, whole.text], [200, "0123456789"]);
  t.is(whole.headers["Content-Disposition"], "attachment;filename=app.bin");
  t.is(whole.headers["x-filename"], "app.bin");
  const parts = [
    "&size=4",
    "&size=4&chunk=1",
    "&size=4&chunk=2",
    "&size=4&chunk=3",
    "&size=0&chunk=9",
    "&size=-1",
  ];
  t.deepEqual(
    parts.map((part) => get(rig, part).text),
    ["0123", "4567", "89", "", "0123456789", "0123456789"],
  );
  t.is(get(rig, "&size=4&chunk=-1").status, 500);
  t.is(get(rig, "&size=4&chunk=99").status, 200);
});

test("a range counts from the beginning of the chunk", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  const part = get(rig, "", { range: "bytes=2-4" });
  t.deepEqual([part.status, part.text, part.headers["Content-Range"]], [206, "234", "bytes 2-4/10"]);
  t.is(get(rig, "&size=4&chunk=1", { range: "bytes=1-" }).text, "567");
  t.is(get(rig, "", { range: "bytes=-3" }).text, "789");
  t.is(get(rig, "", { range: "bytes=10-" }).status, 416);
  t.is(get(rig, "", { range: "items=0-1" }).status, 416);
});

// Rate limits: what a request costs, and how a refusal shows.

const points = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index])));
const statuses = (rig: Rig, calls: [method: string, path: string, body?: string][]) =>
  calls.map(([method, path, body]) => rig.call(method, path, body).status);

test("a bucket fills up evenly and holds no more than its size", (t) => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket("4:1", clock);
  t.true(bucket.take(4));
  t.false(bucket.take(1));
  clock.advance(249);
  t.false(bucket.take(1));
  clock.advance(1);
  t.true(bucket.take(1));
  clock.advance(60_000);
  t.false(bucket.take(5));
  t.true(bucket.take(4));
});

test("of several limits all must hold, and a refusal takes from none", (t) => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket("2:1,3:60", clock);
  t.deepEqual([bucket.take(2), bucket.take(1)], [true, false]);
  clock.advance(1_000);
  t.deepEqual([bucket.take(2), bucket.take(1), bucket.take(1)], [false, true, false]);
});

test("a malformed limit is refused by name", (t) => {
  for (const spec of ["", "20", "0:1", "20:0", "20:1,", "-1:1", "1.5:1", "20:1;5:2"]) {
    t.throws(() => createRig({ rateLimits: { "device-points": spec } }), {
      instanceOf: RangeError,
      message: `'${spec}' is no rate limit like 20:1,600:60`,
    });
  }
});

test(`a POST above the limit is an empty 500, and the connection is closed`, (t) => {
  const rig = createRig({ rateLimits: { "device-telemetry": "1:60", "device-messages": "1:60" } });
  t.is(rig.call("POST", "telemetry", '{"a":1}').status, 200);
  for (const [path, body] of [
    ["telemetry", '{"a":2}'],
    ["attributes", '{"a":2}'],
  ] as const) {
    const { status, text, headers } = rig.call("POST", path, body);
    t.deepEqual([status, text, headers.Connection], [500, "", "close"], path);
  }
  t.deepEqual(
    statuses(rig, [
      ["POST", "rpc/0", "1"],
      ["POST", "rpc/0", "1"],
      ["POST", "claim"],
      ["POST", "telemetry", "{}"],
      ["GET", "firmware?title=a&version=1"],
    ]),
    [200, 500, 500, 500, 500],
  );
  t.is(rig.device.series.latest("a")?.value, 1n);
});

test(`a batch larger than the bucket of data points never passes, a smaller one does`, (t) => {
  const rig = createRig({ rateLimits: { "device-points": "10:1" } });
  for (let tries = 0; tries < 3; tries++) {
    t.is(rig.call("POST", "telemetry", points(11)).status, 500);
    rig.clock.advance(3_600_000);
  }
  t.is(rig.call("POST", "telemetry", points(10)).status, 200);
  rig.clock.advance(1_000);
  const list = JSON.stringify(Array.from({ length: 6 }, (_, ts) => ({ ts, values: { a: 1, b: 2 } })));
  t.is(rig.call("POST", "telemetry", list).status, 500);
});

test("what else is above the limit gets no answer until the server's limit", (t) => {
  for (const [method, path, body] of [
    ["GET", "rpc?timeout=1000"],
    ["GET", "attributes/updates?timeout=1000"],
    ["GET", "attributes"],
    ["POST", "rpc", '{"method":"getTime","params":{}}'],
  ] as const) {
    const rig = createRig({ rateLimits: { "device-messages": "1:60" } });
    t.is(rig.call("POST", "telemetry", "{}").status, 200);
    const dropped = rig.call(method, path, body);
    rig.clock.advance(29_999);
    t.is(dropped.status, undefined, path);
    rig.clock.advance(1);
    t.is(dropped.status, 503, path);
    t.is(rig.clock.waiting, 0, path);
  }
});

test("a poll above the limit takes no RPC and leaves no zombie", (t) => {
  const rig = createRig({ rateLimits: { "device-messages": "1:60" } });
  rig.call("GET", "attributes");
  rig.call("GET", "rpc?timeout=1000");
  const { results } = rig.send("m", { oneWay: true });
  t.deepEqual(results, []);
  t.is(rig.device.rpc.pending, 1);
});

test("points cost one telemetry message and no other, everything else one other message", (t) => {
  const rateLimits = { "device-messages": "1:60", "device-telemetry": "2:60" };
  const rig = createRig({ rateLimits });
  const post = (path: string, body: string): [string, string, string] => ["POST", path, body];
  const calls = [post("telemetry", '[{"a":1},{"b":2}]'), post("attributes", '{"a":1}'), post("claim", "{}")];
  t.deepEqual(statuses(rig, [...calls, ...calls]), [200, 200, 200, 500, 500, 500]);
});

test("null values, provisioning and unknown tokens do not count against rate limits", (t) => {
  const rig = createRig({ rateLimits: { "tenant-points": "1:60", "tenant-messages": "1:60" } });
  t.is(rig.call("POST", "telemetry", '{"a":1,"b":null}').status, 200);
  for (let tries = 0; tries < 3; tries++) {
    t.is(
      rig.call("POST", "/api/v1/provision", '{"provisionDeviceKey":"k","provisionDeviceSecret":"s"}').status,
      200,
    );
    t.is(rig.call("GET", "/api/v1/unknown/attributes").status, 401);
  }
  t.is(rig.call("GET", "attributes").status, 200);
});

test("each device has buckets of its own, the tenant's hold for all together", (t) => {
  const rig = createRig({ rateLimits: { "tenant-points": "3:60", "device-points": "2:60" } });
  rig.core.createDevice({ name: "other", profileId: rig.profile.id }, "other-token");
  const other = "/api/v1/other-token/telemetry";
  t.is(rig.call("POST", "telemetry", points(2)).status, 200);
  t.is(rig.call("POST", other, points(1)).status, 200);
  t.is(rig.call("POST", other, points(1)).status, 500);
  rig.clock.advance(20_000);
  t.is(rig.call("POST", other, points(1)).status, 200);
});

test("each request is written down with its end, and without the token", (t) => {
  const { api, call, clock } = createRig();
  call("POST", "telemetry", '{"a":1}');
  call("GET", "rpc?timeout=1000");
  clock.advance(1_000);
  t.deepEqual(api.log.list(), [
    {
      ts: START,
      method: "POST",
      path: "/api/v1/***/telemetry",
      device: "greenhouse-7",
      status: 200,
      durationMs: 0,
      body: '{"a":1}',
    },
    {
      ts: START,
      method: "GET",
      path: "/api/v1/***/rpc?timeout=1000",
      device: "greenhouse-7",
      status: 408,
      durationMs: 1_000,
      body: "",
    },
  ]);
});

test("no secret is written down, however it is sent", (t) => {
  const { api, call } = createRig();
  call(
    "POST",
    "/api/v1/provision",
    "{'provisionDeviceSecret'='hush-1';token:hush-2,provisionDeviceKey:hush-3}",
  );
  call("POST", "/api/v1/provision", '{"provisionDevice\\u0053ecret":"hush-4"}');
  call("POST", "/api/v1/provision", '{"provisionDeviceSecret":"hush-5",');
  call("POST", "claim", '{"secretKey":"hush-6"}');
  call("POST", "/api/v1/hush-7/claim", '{"secretKey":"hush-8"');
  call("POST", "telemetry", `{"note":"${TOKEN}","nested":{"credentialsValue":"hush-9"}}`);
  call("GET", "/api/v1/hush-10");
  const text = JSON.stringify(api.log.list());
  t.is(api.log.list().length, 7);
  t.false(text.includes("hush"), text);
  t.false(text.includes(TOKEN));
});

test("of a body 200 bytes are shown, of requests the last thousand", (t) => {
  const { api, call } = createRig();
  call("POST", "telemetry", JSON.stringify({ text: "x".repeat(500) }));
  t.is(api.log.list()[0]?.body.length, 200);
  for (let sent = 0; sent < 1_005; sent++) call("POST", "telemetry", `{"n":${sent}}`);
  t.is(api.log.list().length, 1_000);
  t.is(api.log.list().at(-1)?.body, '{"n":1004}');
});

test("a device that hangs up is written down with status 0", (t) => {
  const { api, call } = createRig();
  call("GET", "rpc?timeout=1000").hangUp();
  t.is(api.log.list()[0]?.status, 0);
});
