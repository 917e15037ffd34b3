// The switchboard on a virtual clock: what each fault does, when it happens, and that a seed is a run.
import test from "ava";
import { parseJson } from "../../../tools/platform/core/json/json-reader.js";
import { typed } from "../../../tools/platform/core/values.js";
import { fits } from "../../../tools/platform/faults/glob.js";
import { PROXIES, type ProxyName, proxyBytes } from "../../../tools/platform/faults/proxies.js";
import { FAULTS, type FaultRule, readPost } from "../../../tools/platform/faults/shapes.js";
import { type Call, createRig, type Rig } from "./rig.js";

function rigWith(...faults: (Partial<FaultRule> | Record<string, unknown>)[]): Rig {
  const rig = createRig();
  rig.api.faults.add(readPost({ seed: 7, faults }));
  return rig;
}
const stored = (rig: Rig): string[] => rig.device.series.keys();
const answerOf = ({ status, text }: Call): [number | undefined, string] => [status, text];

test("delay: the platform acts at once, and its answer leaves later", (t) => {
  const rig = rigWith({ fault: "delay", ms: 500 }, { fault: "delay", ms: 200 });
  const call = rig.call("POST", "telemetry", '{"a":1}');
  t.deepEqual(stored(rig), ["a"]);
  rig.clock.advance(699);
  t.is(call.status, undefined);
  rig.clock.advance(1);
  t.is(call.status, 200);
  t.like(rig.api.log.list()[0], { status: 200, durationMs: 700, faults: ["delay", "delay"] });
});

test("delay: a device that hangs up before leaves no timer", (t) => {
  const rig = rigWith({ fault: "delay", ms: 500 });
  const call = rig.call("GET", "attributes");
  call.hangUp();
  t.is(rig.clock.waiting, 0);
  t.like(rig.api.log.list()[0], { status: 0, faults: ["delay"] });
});

test("drop: the answer is lost, or the request before the platform sees it", (t) => {
  for (const [at, keys] of [
    [undefined, ["a"]],
    ["answer", ["a"]],
    ["request", []],
  ] as const) {
    const rig = rigWith({ fault: "drop", ...(at && { at }) });
    const call = rig.call("POST", "telemetry", '{"a":1}');
    rig.clock.advance(600_000);
    t.is(call.status, undefined);
    t.deepEqual(stored(rig), [...keys], at);
    t.like(rig.api.log.list()[0], { status: 0, faults: ["drop"] });
  }
});

test("drop: an RPC whose poll's answer is lost was taken all the same", (t) => {
  const rig = rigWith({ fault: "drop", match: { path: "rpc" } });
  rig.call("GET", "rpc?timeout=20000");
  t.deepEqual(rig.send("m", { oneWay: true }).results, [{ kind: "sent" }]);
});

test("status: in place of the platform, or of its answer", (t) => {
  const instead = rigWith({ fault: "status", status: 502, body: "bad gateway" });
  t.deepEqual(answerOf(instead.call("POST", "telemetry", '{"a":1}')), [502, "bad gateway"]);
  t.deepEqual(stored(instead), []);
  const after = rigWith({ fault: "status", status: 500, at: "answer" });
  t.deepEqual(answerOf(after.call("POST", "telemetry", '{"a":1}')), [500, ""]);
  t.deepEqual(stored(after), ["a"]);
});

test("not-stored: telemetry and attributes are answered 200 and lost, and a bad body is refused as ever", (t) => {
  const rig = rigWith({ fault: "not-stored", count: 3 });
  t.deepEqual(answerOf(rig.call("POST", "telemetry", '[{"ts":1,"values":{"a":1}}]')), [200, ""]);
  t.deepEqual(answerOf(rig.call("POST", "attributes", '{"b":1}')), [200, ""]);
  t.is(rig.call("POST", "telemetry", "{").status, 500);
  t.deepEqual(stored(rig), []);
  t.is(rig.device.attributes.get("CLIENT_SCOPE", "b"), undefined);
  t.like(rig.api.log.list()[0], { status: 200, faults: ["not-stored"] });
  t.is(rig.call("GET", "attributes").status, 200);
  t.is(rig.call("POST", "telemetry", '{"a":1}').status, 200);
  t.deepEqual(stored(rig), ["a"]);
});

test("no-attributes: what is there is shown as nothing, and only to GET attributes", (t) => {
  const rig = rigWith({ fault: "no-attributes" });
  t.is(rig.call("POST", "attributes", '{"a":1}').status, 200);
  const { status, text, headers } = rig.call("GET", "attributes");
  t.deepEqual([status, text, headers["Content-Length"]], [200, "{}", "2"]);
  t.deepEqual(
    rig.api.faults.list().map(({ seen, done }) => [seen, done]),
    [[1, 1]],
  );
});

test("torn-firmware: of the firmware's values some are those before the last change, and never all are right", (t) => {
  const rig = rigWith({ fault: "torn-firmware" });
  const set = (version: string) => {
    const values = { interval: 5, fw_title: "g", fw_version: version, fw_size: 9, fw_checksum: version };
    const entries = Object.entries(values).map(
      ([key, value]) => [key, typed(parseJson(JSON.stringify(value)))!] as const,
    );
    rig.core.saveAttributes(rig.device, "SHARED_SCOPE", entries);
  };
  const read = () => JSON.parse(rig.call("GET", "attributes").text).shared as Record<string, unknown>;
  set("v1");
  for (let round = 0; round < 20; round++) {
    const shared = read();
    t.is(shared.interval, 5);
    t.true(Object.keys(shared).length < 5);
  }
  set("v2");
  const seen = new Set(Array.from({ length: 40 }, () => `${read().fw_version} ${read().fw_checksum}`));
  const mixed = Array.from({ length: 40 }, read);
  t.true(mixed.every(({ fw_version: v, fw_checksum: c }) => v === "v1" || c === "v1"));
  t.true(mixed.some(({ fw_version: v, fw_checksum: c }) => v !== c));
  t.true(seen.size > 1);
});

test("torn-firmware: without firmware there is nothing to tear", (t) => {
  const rig = rigWith({ fault: "torn-firmware" });
  rig.call("POST", "attributes", '{"a":1.50}');
  t.is(rig.call("GET", "attributes").text, '{"client":{"a":1.5}}');
});

test("eviction: a package that was just there is an empty 500, and nothing else is", (t) => {
  const rig = rigWith({ fault: "eviction" });
  t.deepEqual(answerOf(rig.call("GET", "firmware?title=a&version=b")), [500, ""]);
  t.is(rig.call("GET", "attributes").status, 200);
});

test("clock-skew: the platform's Date, its answers and what it stores without a time are ahead", (t) => {
  const rig = createRig({ ruleChain: true });
  rig.api.faults.add(readPost({ faults: [{ fault: "clock-skew", ms: 3_600_000 }] }));
  const ahead = rig.clock.now() + 3_600_000;
  const { headers } = rig.call("POST", "telemetry", '{"a":1}');
  t.is(headers.Date, new Date(ahead).toUTCString());
  t.is(rig.device.series.latest("a")?.ts, ahead);
  t.is(rig.call("POST", "rpc", '{"method":"getCurrentTime","params":{}}').text, String(ahead));
  t.is(JSON.parse(rig.call("GET", "none").text).timestamp, ahead);
});

test("reset, truncated and garbage: other bytes than the answer, with their end", (t) => {
  const wire = (fault: Record<string, unknown>, path = "attributes") => {
    const rig = createRig();
    rig.call("POST", "attributes", '{"serial":"A-113"}');
    rig.api.faults.add(readPost({ faults: [fault] }));
    let sent: { text: string; end: string } | undefined;
    const request = {
      method: "GET",
      url: `/api/v1/the-device-token/${path}`,
      headers: {},
      body: Buffer.from(""),
    };
    rig.api.handle(request, (answer) => {
      const { bytes, end } = answer.wire!;
      sent = { text: Buffer.from(bytes).toString("latin1"), end };
    });
    return sent!;
  };
  t.deepEqual(wire({ fault: "reset" }), { text: "", end: "reset" });
  t.deepEqual(wire({ fault: "reset", afterBytes: 12 }), { text: "HTTP/1.1 200", end: "reset" });
  const { text, end } = wire({ fault: "truncated" });
  const [head = "", body = ""] = text.split("\r\n\r\n");
  t.regex(head, /Content-Length: 29/);
  t.true(body.length < 29 && '{"client":{"serial":"A-113"}}'.startsWith(body), body);
  t.is(end, "close");
  t.is(wire({ fault: "truncated", afterBytes: 5 }).text, "HTTP/");
  t.is(wire({ fault: "garbage", bytes: 10 }).text.length, 10);
  t.not(wire({ fault: "garbage" }).text.slice(0, 4), "HTTP");
});

test("a fault is for the method, path and device it names", (t) => {
  const only = (match: object) => rigWith({ fault: "status", status: 599, match });
  t.is(only({ method: "get" }).call("GET", "attributes").status, 599);
  t.is(only({ method: "POST" }).call("GET", "attributes").status, 200);
  t.is(only({ path: "rpc/*" }).call("POST", "rpc/5", "1").status, 599);
  t.is(only({ path: "rpc" }).call("POST", "rpc/5", "1").status, 200);
  t.is(only({ path: "provision" }).call("POST", "/api/v1/provision", "{").status, 599);
  t.is(only({ device: "greenhouse-7" }).call("GET", "attributes").status, 599);
  t.is(only({ device: "greenhouse-8" }).call("GET", "attributes").status, 200);
  t.is(only({ device: "greenhouse-7" }).call("GET", "/api/v1/unknown/attributes").status, 401);
});

test("a fault spares the first, ends after its count, and of two that end a request the first holds", (t) => {
  const rig = rigWith(
    { fault: "status", status: 501, skip: 1, count: 2 },
    { fault: "status", status: 502, count: 2 },
  );
  const statuses = Array.from({ length: 6 }, () => rig.call("GET", "attributes").status);
  t.deepEqual(statuses, [502, 501, 501, 502, 200, 200]);
  t.deepEqual(
    rig.api.faults.list().map(({ id, seen, done }) => [id, seen, done]),
    [
      [1, 3, 2],
      [2, 2, 2],
    ],
  );
});

test("the same seed gives the same run, another one another, and clearing starts again", (t) => {
  const fault = { fault: "status", status: 500, probability: 0.3 };
  const run = (rig: Rig) => Array.from({ length: 200 }, () => rig.call("GET", "attributes").status).join(" ");
  const rig = createRig();
  const begin = (seed: number): string => {
    rig.api.faults.clear();
    rig.api.faults.add(readPost({ seed, faults: [fault] }));
    return run(rig);
  };
  const first = begin(7);
  const share = first.split("500").length - 1;
  t.true(share > 30 && share < 90, String(share));
  t.is(begin(7), first);
  t.not(begin(8), first);
  rig.api.faults.clear();
  t.deepEqual(rig.api.faults.list(), []);
  t.false(run(rig).includes("500"));
});

test("a pattern's star stands for any characters, and many stars take no long time", (t) => {
  t.true(fits("rpc*", "rpc") && fits("*", "") && fits("a*c*", "abbcd") && fits("r*/7", "rpc/77/7"));
  t.false(fits("rpc", "rpc/1") || fits("a*c", "abd") || fits("", "a") || fits("a", ""));
  t.false(fits("*a".repeat(99), `${"a".repeat(98)}${"b".repeat(10_000)}`));
});

test("a request for faults that isn't one is refused with what is wrong", (t) => {
  const wrong: [object, RegExp][] = [
    [{}, /'faults' is a list/],
    [{ faults: [] }, /'faults' is a list/],
    [{ faults: [5] }, /a fault is an object/],
    [{ faults: [{ fault: "fire" }] }, /'fault' is one of delay, drop/],
    [{ faults: [{ fault: "delay" }] }, /delay needs 'ms'/],
    [{ faults: [{ fault: "delay", ms: -1 }] }, /'ms' of delay is out of its range/],
    [{ faults: [{ fault: "delay", ms: 1, bytes: 4 }] }, /delay has no 'bytes'/],
    [{ faults: [{ fault: "drop", at: "noon" }] }, /'at' of drop/],
    [{ faults: [{ fault: "status", status: 100 }] }, /'status' of status/],
    [{ faults: [{ fault: "drop", match: [] }] }, /'match' is an object/],
    [{ faults: [{ fault: "drop", match: { url: "x" } }] }, /match has no 'url'/],
    [{ faults: [{ fault: "drop", probability: 2 }] }, /'probability'/],
    [{ faults: [{ fault: "drop", constructor: 2 }] }, /drop has no 'constructor'/],
    [{ seed: 1.5, faults: [{ fault: "drop" }] }, /'seed'/],
    [{ faults: [{ fault: "drop" }], seeds: 1 }, /the request has no 'seeds'/],
  ];
  for (const [post, message] of wrong) {
    t.throws(() => readPost(post as Record<string, unknown>), { message }, JSON.stringify(post));
  }
  const rig = createRig();
  const many = { faults: Array.from({ length: 100 }, () => ({ fault: "drop", count: 1 })) };
  rig.api.faults.add(readPost(many));
  t.throws(() => rig.api.faults.add(readPost({ faults: [{ fault: "drop" }] })), {
    message: /100 faults at most/,
  });
});

test("with any fault switched on by chance each request ends, and nothing is left open", (t) => {
  const values: Partial<Record<string, object>> = {
    delay: { ms: 50 },
    status: { status: 503 },
    "clock-skew": { ms: -5_000 },
    proxy: { by: "nginx-499" },
  };
  const rig = rigWith(...FAULTS.map((fault) => ({ fault, probability: 0.2, ...values[fault] })));
  for (let sent = 0; sent < 300; sent++) {
    rig.call("POST", "telemetry", '{"a":1}');
    rig.call("GET", "attributes");
    rig.call("GET", "rpc?timeout=100");
    rig.call("GET", "firmware?title=a&version=b");
    rig.clock.advance(1_000);
  }
  rig.clock.advance(600_000);
  t.deepEqual([rig.clock.waiting, rig.faults], [0, []]);
  t.is(rig.api.log.list().length, 1_000);
});

test("provisioning-failure: FAILURE once, and the name is free afterwards", (t) => {
  const rig = rigWith({ fault: "provisioning-failure", count: 1 });
  const body = '{"deviceName":"n","provisionDeviceKey":"key","provisionDeviceSecret":"secret"}';
  const ask = (): unknown => JSON.parse(rig.call("POST", "/api/v1/provision", body).text).status;
  t.deepEqual([ask(), ask(), ask()], ["FAILURE", "SUCCESS", "FAILURE"]);
});

test("proxy: each answers in its own bytes, and nginx's 499 in none", (t) => {
  const first = (by: ProxyName): string =>
    Buffer.from(proxyBytes(by, 0)).toString().split("\r\n", 1)[0] ?? "";
  t.deepEqual(
    PROXIES.map((name) => first(name)),
    [
      "HTTP/1.1 503 Service Unavailable",
      "HTTP/1.1 504 Gateway Time-out",
      "HTTP/1.1 400 Bad request",
      "",
      "HTTP/1.1 502 Bad Gateway",
      "HTTP/1.1 504 Gateway Time-out",
      "HTTP/1.1 413 Request Entity Too Large",
      "HTTP/1.1 414 Request-URI Too Large",
      "HTTP/1.1 400 Bad Request",
    ],
  );
  for (const name of PROXIES) {
    const [head = "", body = ""] = Buffer.from(proxyBytes(name, 0)).toString().split("\r\n\r\n");
    if (head !== "") t.is(Number(/content-length: (\d+)/i.exec(head)?.[1]), body.length, name);
  }
});
