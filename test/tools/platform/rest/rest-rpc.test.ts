// RPC through the operator's REST.
import { TOKEN, test, UNKNOWN } from "./rest-rig.js";

test("a two-way RPC is answered with the device's JSON, one-way with nothing", async (t) => {
  const { call, deviceId, platform } = t.context;
  const device = `${platform.url}/api/v1/${TOKEN}`;
  for (const [path, answer, status, text] of [
    [`/api/rpc/twoway/${deviceId}`, '{"on":true}', 200, '{"on":true}'],
    [`/api/plugins/rpc/twoway/${deviceId}`, "7", 200, "7"],
    [`/api/rpc/twoway/${deviceId}`, "not JSON", 406, ""],
  ] as const) {
    const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.json());
    const sent = call("POST", path, '{"method":"m","params":{"n":1.50}}');
    const { id, method, params } = (await poll) as { id: number; method: string; params: unknown };
    t.deepEqual([method, params], ["m", { n: 1.5 }]);
    await fetch(`${device}/rpc/${id}`, { method: "POST", body: answer });
    const result = await sent;
    t.deepEqual([result.status, result.text], [status, text]);
  }
  const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.text());
  const oneWay = await call("POST", `/api/rpc/oneway/${deviceId}`, { method: "m", params: null });
  t.deepEqual([oneWay.status, oneWay.text], [200, ""]);
  t.is(await poll, '{"id":3,"method":"m","params":null}');
});

test("numbers go to the device and back as Java writes them, and a blank answer is null", async (t) => {
  const { call, deviceId, platform } = t.context;
  const device = `${platform.url}/api/v1/${TOKEN}`;
  const ask = async (params: string, answer: string): Promise<string[]> => {
    const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.text());
    const sent = call("POST", `/api/rpc/twoway/${deviceId}`, `{"method":"m","params":${params}}`);
    const got = await poll;
    await fetch(`${device}/rpc/${JSON.parse(got).id}`, { method: "POST", body: answer });
    return [got.slice(got.indexOf('"params":') + 9, -1), (await sent).text];
  };
  t.deepEqual(await ask("1e+21", '{"a":1.50,"b":1e3}'), ["1.0E21", '{"a":1.5,"b":1000.0}']);
  t.deepEqual(await ask('[9223372036854775808,-0,"1e3",null,true]', " "), [
    '[9223372036854775808,0,"1e3",null,true]',
    "null",
  ]);
  t.deepEqual(await ask('{"x":1e400}', '"text"'), ['{"x":"Infinity"}', '"text"']);
});

test("an RPC that nobody takes ends by the time given, 5 s at least, with the API version's status", async (t) => {
  const { call, deviceId, clock, platform } = t.context;
  const device = platform.core.devices.get(deviceId)!;
  const send = async (base: string): Promise<number> => {
    const sent = call("POST", `${base}/${deviceId}`, { method: "m", params: {}, timeout: 100 });
    while (device.rpc.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(4_999);
    t.is(device.rpc.pending, 1);
    clock.advance(1);
    return (await sent).status;
  };
  t.is(await send("/api/rpc/twoway"), 504);
  t.is(await send("/api/rpc/oneway"), 504);
  t.is(await send("/api/plugins/rpc/twoway"), 409);
  const poll = fetch(`${platform.url}/api/v1/${TOKEN}/rpc?timeout=1`);
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1);
  await poll;
  t.is(await send("/api/plugins/rpc/twoway"), 408);
});

test("a persistent RPC leaves a record", async (t) => {
  const { call, deviceId, platform, clock } = t.context;
  const body = { method: "m", params: 5, persistent: true, expirationTime: clock.now() + 60_000 };
  const { rpcId } = (await call("POST", `/api/rpc/twoway/${deviceId}`, body)).json;
  const read = async () => (await call("GET", `/api/rpc/persistent/${rpcId}`)).json;
  t.like(await read(), {
    status: "QUEUED",
    response: null,
    request: { oneway: false, body: { method: "m", params: "5" } },
  });
  await fetch(`${platform.url}/api/v1/${TOKEN}/rpc?timeout=1000`);
  t.is((await read()).status, "DELIVERED");
  await fetch(`${platform.url}/api/v1/${TOKEN}/rpc/0`, { method: "POST", body: '{"done":true}' });
  t.like(await read(), { status: "SUCCESSFUL", response: { done: true } });
  const page = (
    await call("GET", `/api/rpc/persistent/device/${deviceId}?pageSize=10&page=0&rpcStatus=SUCCESSFUL`)
  ).json;
  t.is(page.totalElements, 1);
  t.is((await call("DELETE", `/api/rpc/persistent/${rpcId}`)).status, 200);
  t.is((await call("GET", `/api/rpc/persistent/${rpcId}`)).status, 404);
});

test("a malformed RPC is a 400", async (t) => {
  const { call, deviceId } = t.context;
  for (const body of [
    "{",
    "[]",
    "{}",
    '{"method":5}',
    '{"method":"m","timeout":"soon"}',
    '{"method":"m","expirationTime":1.5}',
  ]) {
    t.is((await call("POST", `/api/rpc/oneway/${deviceId}`, body)).status, 400, body);
  }
  t.is((await call("POST", `/api/rpc/oneway/${UNKNOWN}`, { method: "m" })).status, 404);
});
