import test from "ava";
import { createRig, START, TOKEN } from "./rig.js";

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
