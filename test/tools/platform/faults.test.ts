// The switchboard on a virtual clock: what each fault does, when it happens, and that a seed is a
// run.

import { connect } from "node:net";
import test from "ava";

import { type FaultRule, readPost } from "../../../tools/platform/faults/shapes.js";
import type { Platform } from "../../../tools/platform/server.js";
import { rawRequest } from "../raw-http.js";
import { type Call, createRig, type Rig, startWithDevice, TOKEN } from "./rig.js";

function rigWith(...faults: (Partial<FaultRule> | Record<string, unknown>)[]): Rig {
  const rig = createRig();
  rig.api.faults.add(readPost({ seed: 7, faults }));
  return rig;
}
const stored = (rig: Rig): string[] => rig.device.series.keys();
const answerOf = ({ status, text }: Call): [number | undefined, string] => [status, text];

test("delay: the platform acts at once, its answer leaves later, a hang-up leaves no timer", (t) => {
  const rig = rigWith({ fault: "delay", ms: 500 }, { fault: "delay", ms: 200 });
  const call = rig.call("POST", "telemetry", '{"a":1}');
  t.deepEqual(stored(rig), ["a"]);
  rig.clock.advance(699);
  t.is(call.status, undefined);
  rig.clock.advance(1);
  t.is(call.status, 200);
  t.like(rig.api.log.list()[0], { status: 200, durationMs: 700, faults: ["delay", "delay"] });
  rig.call("GET", "attributes").hangUp();
  t.is(rig.clock.waiting, 0);
});

// A fault, its answer to a point, and whether the platform stored the point.
for (const [fault, answer, isStored] of [
  [{ fault: "drop" }, [undefined, ""], true],
  [{ fault: "drop", at: "answer" }, [undefined, ""], true],
  [{ fault: "drop", at: "request" }, [undefined, ""], false],
  [{ fault: "status", status: 502, body: "bad gateway" }, [502, "bad gateway"], false],
  [{ fault: "status", status: 500, at: "answer" }, [500, ""], true],
] as const)
  test(`${JSON.stringify(fault)}: the point is ${isStored ? "stored" : "lost"}`, (t) => {
    const rig = rigWith(fault);
    const call = rig.call("POST", "telemetry", '{"a":1}');
    rig.clock.advance(600_000);
    t.deepEqual(answerOf(call), [...answer]);
    t.deepEqual(stored(rig), isStored ? ["a"] : []);
    t.like(rig.api.log.list()[0], { faults: [fault.fault] });
  });

test("not-stored: answers telemetry and attributes 200 and drops them; a bad body is refused", (t) => {
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

test("a fault happens only to requests that match method, path and device", (t) => {
  for (const [match, line, happens] of [
    [{ method: "get" }, "GET attributes", true],
    [{ method: "POST" }, "GET attributes", false],
    [{ path: "rpc/*" }, "POST rpc/5", true],
    [{ path: "rpc" }, "POST rpc/5", false],
    [{ device: "greenhouse-7" }, "GET attributes", true],
    [{ device: "greenhouse-7" }, "GET /api/v1/unknown/attributes", false],
  ] as const) {
    const rig = rigWith({ fault: "status", status: 599, match });
    const [method = "", path = ""] = line.split(" ");
    t.is(rig.call(method, path, "1").status === 599, happens, `${JSON.stringify(match)} ${line}`);
  }
});

test("a fault skips the first requests, ends after its count, and the first of two applies", (t) => {
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

test("rejects a request for faults with the reason, and more than 100 of them", (t) => {
  for (const [post, message] of [
    [{ faults: [] }, /'faults' must be a list/],
    [{ faults: [5] }, /a fault must be an object/],
    [{ faults: [{ fault: "fire" }] }, /'fault' must be one of delay, drop/],
    [{ faults: [{ fault: "delay" }] }, /delay requires 'ms'/],
    [{ faults: [{ fault: "delay", ms: -1 }] }, /invalid 'ms' of delay/],
    [{ faults: [{ fault: "drop", constructor: 2 }] }, /unknown member 'constructor' of drop/],
    [{ faults: [{ fault: "drop", match: { url: "x" } }] }, /unknown member 'url' of match/],
    [{ seed: 1.5, faults: [{ fault: "drop" }] }, /'seed'/],
  ] as const)
    t.throws(() => readPost(post as Record<string, unknown>), { message }, JSON.stringify(post));
  const rig = rigWith(...Array.from({ length: 100 }, () => ({ fault: "drop" })));
  t.throws(() => rig.api.faults.add(readPost({ faults: [{ fault: "drop" }] })), {
    message: /at most 100 faults/,
  });
});

// The switchboard over real sockets: what each fault does to the bytes, and who may use it.

/** What comes back until the connection ends, and how it ends. */
function bytesOf({ address }: Platform, path: string): Promise<{ text: string; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(address.port, address.host);
    let text = "";
    let end = "close";
    socket.on("data", (piece) => {
      text += piece.toString("latin1");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      end = error.code ?? "?";
    });
    socket.on("close", () => resolve({ text, end }));
    socket.write(`GET /api/v1/${TOKEN}/${path} HTTP/1.1\r\nHost: d\r\n\r\n`);
  });
}

const JSON_TYPE = { "content-type": "application/json" };

const ask = ({ address }: Platform, method: string, headers = {}, faults?: object[]) =>
  rawRequest({
    ...{ ...address, method, path: "/api/faults", headers },
    ...(faults && { body: JSON.stringify({ seed: 7, faults }) }),
  });

const switchOn = (platform: Platform, ...faults: object[]) => ask(platform, "POST", JSON_TYPE, faults);

test("faults are switched on, listed and cleared without a login, as JSON only", async (t) => {
  const platform = await startWithDevice(t);
  const on = await switchOn(platform, { fault: "delay", ms: 5, match: { path: "rpc*" }, count: 2 });
  const listed = { id: 1, fault: "delay", ms: 5, match: { path: "rpc*" }, count: 2 };
  const expected = { ...listed, skip: 0, probability: 1, seed: 7, seen: 0, done: 0 };
  t.deepEqual([on.status, JSON.parse(on.text)], [200, { faults: [expected] }]);
  t.is((await ask(platform, "DELETE")).status, 200);
  t.is((await switchOn(platform, { fault: "fire" })).status, 400);
  // A form, as any web page may send it.
  const form = { "content-type": "text/plain" };
  t.is((await ask(platform, "POST", form, [{ fault: "drop" }])).status, 415);
  t.is((await ask(platform, "GET")).text, '{"faults":[]}');
});

test("refuses to switch faults for any web page", async (t) => {
  const platform = await startWithDevice(t);
  for (const headers of [
    { host: "evil.example" },
    { origin: "http://evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "x-forwarded-for": "192.0.2.1" },
  ]) {
    const { status } = await ask(platform, "POST", { ...JSON_TYPE, ...headers }, [{ fault: "drop" }]);
    t.is(status, 403, JSON.stringify(headers));
  }
  t.is((await ask(platform, "GET")).text, '{"faults":[]}');
});

test("reset: the connection breaks after so many bytes of the answer", async (t) => {
  const platform = await startWithDevice(t);
  await switchOn(platform, { fault: "reset", count: 1 }, { fault: "reset", afterBytes: 12 });
  t.deepEqual(await bytesOf(platform, "attributes"), { text: "", end: "ECONNRESET" });
  // Node reports an end instead of a reset if it reads the bytes after the reset arrived.
  const { text, end } = await bytesOf(platform, "attributes");
  t.is(text, "HTTP/1.1 200");
  t.regex(end, /^(?:ECONNRESET|close)$/);
});

test("truncated: the head promises more than comes, and the connection ends in order", async (t) => {
  const platform = await startWithDevice(t);
  await switchOn(platform, { fault: "truncated" });
  const { text, end } = await bytesOf(platform, "nothing-here");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  t.is(end, "close");
  t.regex(head, /^HTTP\/1\.1 404 \r\n/);
  t.regex(head, /\r\nDate: \w{3}, /);
  t.regex(head, /\r\nTransfer-Encoding: chunked\r\n/);
  t.false(body.endsWith("\r\n0"), body);
  t.notRegex(text, /\r\n0\r\n\r\n$/);
});
