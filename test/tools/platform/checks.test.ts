// Which error wins, and with what body: the real server's order of checks, in both modes.
import test from "ava";
import { createRig, MODES } from "./rig.js";

for (const as of MODES) {
  const refusal = as === "documented" ? 400 : 500;

  test(`${as}: an unknown token is an empty 401, and wins over a body that can't be parsed`, (t) => {
    const { call } = createRig(as);
    for (const [method, path] of [
      ["POST", "telemetry"],
      ["POST", "attributes"],
      ["GET", "attributes"],
      ["GET", "attributes/updates"],
      ["GET", "rpc"],
      ["POST", "rpc"],
      ["POST", "rpc/1"],
      ["POST", "claim"],
      ["GET", "firmware?title=a&version=b"],
    ] as const) {
      const { status, text, headers } = call(method, `/api/v1/unknown/${path}`, method === "POST" ? "{" : "");
      t.deepEqual([status, text, headers["WWW-Authenticate"]], [401, "", undefined], path);
    }
  });

  test(`${as}: a missing body and a bad number win over an unknown token`, (t) => {
    const { call } = createRig(as);
    t.is(call("POST", "/api/v1/unknown/telemetry").status, 400);
    t.is(call("POST", "/api/v1/unknown/rpc/abc", "1").status, 400);
    t.is(call("GET", "/api/v1/unknown/rpc?timeout=soon").status, 400);
    t.is(call("GET", "/api/v1/unknown/firmware?title=a").status, 400);
    t.is(call("GET", "/api/v1/unknown/firmware?title=a&version=b&size=1.5").status, 400);
  });

  test(`${as}: a body too large wins over everything but the address, by its stated length alone`, (t) => {
    const { call } = createRig(as);
    const large = { "content-length": "65537" };
    const { status, text, headers } = call("POST", "/api/v1/unknown/rpc/1", "1", large);
    t.deepEqual([status, text], [413, '"Payload size exceeds the limit of 65536 bytes"']);
    t.is(headers["Content-Type"], undefined);
    t.is(call("POST", "rpc/1", "1", { "content-length": "65536" }).status, 200);
    t.is(call("POST", "telemetry", "{}", large).status, 200);
    t.is(call("POST", "telemetry", "{}", { "content-length": "16777217" }).status, 413);
    t.is(call("POST", "/api/v1/a//b", "{}", large).status, 400);
  });

  test(`${as}: a body that can't be parsed is a ${refusal} with the parser's text`, (t) => {
    const { call } = createRig(as);
    for (const path of ["telemetry", "attributes", "claim", "rpc"]) {
      const { status, text, headers } = call("POST", path, '{"a":1,}');
      t.is(status, refusal, path);
      t.regex(
        text,
        /^com\.google\.gson\.stream\.MalformedJsonException: Expected name at line 1 column 9 path \$\.a\n/,
      );
      t.is(headers["Content-Type"], "text/plain;charset=UTF-8");
    }
    t.is(
      call("POST", "telemetry", "{", { accept: "application/json" }).headers["Content-Type"],
      "application/json",
    );
  });

  test(`${as}: attributes must be an object`, (t) => {
    const { call } = createRig(as);
    for (const body of ["[]", "5", "null", " "]) {
      const { status, text } = call("POST", "attributes", body);
      t.deepEqual([status, text.startsWith("Can't parse value: ")], [refusal, true], body);
    }
    t.is(call("POST", "attributes", "{}").status, 200);
  });

  test(`${as}: a client-side RPC without method or params is refused without a text`, (t) => {
    const { call } = createRig(as);
    for (const body of [
      "[]",
      "{}",
      '{"method":"m"}',
      '{"params":1}',
      '{"method":{},"params":1}',
      '{"method":null,"params":1}',
    ]) {
      const { status, text } = call("POST", "rpc", body);
      t.deepEqual([status, text], [refusal, ""], body);
    }
  });

  test(`${as}: an unknown path is 404, a wrong method 405 with what is allowed`, (t) => {
    const { call } = createRig(as);
    for (const path of ["nothing", "telemetry/", "rpc/1/2", "attributes/other", "constructor", "__proto__"]) {
      t.is(call("GET", path).status, 404, path);
    }
    t.is(call("GET", "/api/v1/provisions").status, 404);
    const wrong = call("PUT", "attributes", "{}");
    t.deepEqual([wrong.status, wrong.headers.Allow], [405, "GET, POST"]);
    t.is(JSON.parse(wrong.text).message, "Request method 'PUT' is not supported");
    t.is(call("GET", "/api/v1/provision").status, 405);
  });

  test(`${as}: an error of the platform has message, code, status and time, in this order`, (t) => {
    const { call, clock } = createRig(as);
    const { text, headers } = call("GET", "/api/v1/T/foo");
    t.is(
      text,
      `{"message":"No static resource api/v1/T/foo.","errorCode":32,"status":404,"timestamp":${clock.now()}}`,
    );
    t.is(headers["Content-Type"], "application/json");
  });

  test(`${as}: an answer that isn't JSON is not to be had where JSON is promised`, (t) => {
    const { call } = createRig(as);
    t.is(call("GET", "attributes", "", { accept: "text/html" }).status, 406);
    t.is(call("GET", "attributes", "", { accept: "text/html, */*;q=0.1" }).status, 200);
    t.is(call("POST", "telemetry", "{}", { accept: "text/html" }).status, 200);
  });

  test(`${as}: the content type doesn't matter, unless it is none or a form`, (t) => {
    const { call, device } = createRig(as);
    for (const type of ["text/plain", "application/octet-stream", "application/json; charset=utf-8"]) {
      t.is(call("POST", "telemetry", '{"a":1}', { "content-type": type }).status, 200, type);
    }
    t.is(call("POST", "telemetry", '{"a":1}', { "content-type": "json" }).status, 415);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    t.is(call("POST", "telemetry", '{"b":1}', form).status, refusal);
    t.deepEqual(device.series.keys(), ["a"]);
  });

  test(`${as}: addresses that hide something are refused`, (t) => {
    const { call } = createRig(as);
    for (const path of [
      "//telemetry",
      "a%2Fb/telemetry",
      "a%25/telemetry",
      "a;b/telemetry",
      "../telemetry",
      "a%5cb/rpc",
    ]) {
      t.is(call("POST", `/api/v1/${path}`, "{}").status, 400, path);
    }
    const raw = call("GET", "attributes?sharedKeys={a}");
    t.deepEqual([raw.status, raw.headers["Content-Type"]], [400, "text/html;charset=utf-8"]);
  });

  test(`${as}: the connection is closed after the statuses after which the real server closes it`, (t) => {
    const { call, clock } = createRig(as);
    const poll = call("GET", "rpc?timeout=1000");
    clock.advance(1_000);
    t.deepEqual([poll.status, poll.headers.Connection], [408, "close"]);
    t.is(call("POST", "telemetry", "{").headers.Connection, "close");
    t.is(call("POST", "telemetry", "{}").headers.Connection, undefined);
    t.is(call("POST", "/api/v1/unknown/telemetry", "{}").headers.Connection, undefined);
  });

  test(`${as}: an accepted body is an empty 200 with the real server's headers`, (t) => {
    const { call } = createRig(as);
    const { status, text, headers } = call("POST", "telemetry", "{}");
    t.deepEqual(
      [status, text, headers["Content-Length"], headers["Content-Type"]],
      [200, "", "0", undefined],
    );
    t.is(headers["X-Content-Type-Options"], "nosniff");
    t.is(headers["Cache-Control"], "no-cache, no-store, max-age=0, must-revalidate");
  });

  test(`${as}: numbers may have a sign, be hexadecimal and have blanks around them`, (t) => {
    const { call } = createRig(as);
    for (const id of ["+5", "0x1F", "-1", "2147483647"]) t.is(call("POST", `rpc/${id}`, "1").status, 200, id);
    for (const id of ["2147483648", "1.5", "1e3", "0x", "-"])
      t.is(call("POST", `rpc/${id}`, "1").status, 400, id);
  });
}

test("a HEAD request takes an RPC with it", (t) => {
  const rig = createRig();
  rig.send("reboot", { oneWay: true });
  t.is(rig.call("HEAD", "rpc?timeout=1000").status, 200);
  t.is(rig.device.rpc.pending, 0);
});

test("the text of an error is called what the device asked for", (t) => {
  const { call } = createRig("deployed");
  for (const [accept, type] of [
    ["text/html", "text/html;charset=UTF-8"],
    ["application/json", "application/json"],
    ["*/*", "text/plain;charset=UTF-8"],
  ] as const)
    t.is(call("POST", "telemetry", "{", { accept }).headers["Content-Type"], type, accept);
});

test("seen on a running server: the first of two timeouts counts, keys that are no UTF-8 are none, a method may be a list of one", (t) => {
  const { call, clock } = createRig("deployed", { ruleChain: true });
  call("POST", "attributes", '{"a":1}');
  const poll = call("GET", "rpc?timeout=300&timeout=400");
  clock.advance(299);
  t.is(poll.status, undefined);
  clock.advance(1);
  t.is(poll.status, 408);
  t.deepEqual(
    [call("GET", "attributes?clientKeys=%FC").text, call("GET", "attributes").text],
    ["{}", '{"client":{"a":1}}'],
  );
  const asked = call("POST", "rpc", '{"method":["a"],"params":1}');
  clock.advance(30_000);
  t.is(asked.status, 503, "taken, and answered by nobody");
  const answered = call("POST", "rpc", '{"method":["getCurrentTime"],"params":1}');
  t.is(answered.status, 200);
});
