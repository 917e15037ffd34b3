// Attributes and time series through the operator's REST.

import { START } from "../rig.js";
import { TOKEN, test } from "./rest-rig.js";

test("attributes are set by both paths, read by scope and key, and deleted", async (t) => {
  const { call, deviceId } = t.context;
  const base = "/api/plugins/telemetry";
  t.is((await call("POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"a":"007","b":1.50}')).status, 200);
  t.is(
    (await call("POST", `${base}/DEVICE/${deviceId}/attributes/SERVER_SCOPE`, '{"c":{"x":null}}')).status,
    200,
  );
  t.is((await call("POST", `${base}/DEVICE/${deviceId}/SHARED_SCOPE`, '{"d":true}')).status, 200);
  const read = async (rest: string) =>
    (await call("GET", `${base}/DEVICE/${deviceId}/values/attributes${rest}`)).text;
  t.is(
    await read("/SHARED_SCOPE?keys=a,b"),
    `[{"lastUpdateTs":${START},"key":"a","value":7},{"lastUpdateTs":${START},"key":"b","value":1.5}]`,
  );
  t.is(await read("?keys=c"), `[{"lastUpdateTs":${START},"key":"c","value":{"x":null}}]`);
  t.is((await call("DELETE", `${base}/${deviceId}/SHARED_SCOPE?keys=a,d`)).status, 200);
  t.is((await call("DELETE", `${base}/DEVICE/${deviceId}/SHARED_SCOPE?keys=b`)).status, 200);
  t.is(await read("/SHARED_SCOPE"), "[]");
  for (const [method, path, body] of [
    ["POST", `${base}/${deviceId}/CLIENT_SCOPE`, '{"a":1}'],
    ["POST", `${base}/${deviceId}/OTHER_SCOPE`, '{"a":1}'],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, "[]"],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, "{}"],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"":1}'],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"a":1e99999}'],
    ["DELETE", `${base}/${deviceId}/SHARED_SCOPE`, undefined],
  ] as const) {
    t.is((await call(method, path, body)).status, 400, `${path} ${body}`);
  }
});

test("a shared attribute that is null is refused, and a null inside of one is kept", async (t) => {
  const { call, deviceId, platform } = t.context;
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/attributes/SHARED_SCOPE`;
  const refused = await call("POST", path, '{"good":1,"a":null}');
  t.is(refused.status, 500);
  t.like(refused.json, { message: "Can't parse value: null", errorCode: 2, status: 500 });
  const device = platform.core.devices.get(deviceId)!;
  t.deepEqual(device.attributes.list("SHARED_SCOPE"), []);
  const poll = fetch(`${platform.url}/api/v1/${TOKEN}/attributes/updates?timeout=5000`);
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  t.is((await call("POST", path, '{"c":{"b":null,"a":1}}')).status, 200);
  t.is(await (await poll).text(), '{"c":{"b":null,"a":1}}');
});

test("time series are read by range and as latest, as text or with their types", async (t) => {
  const { call, deviceId, platform } = t.context;
  const body =
    '[{"ts":1,"values":{"a":1,"b":"x"}},{"ts":2,"values":{"a":2.0}},{"ts":3,"values":{"a":{"n":1}}}]';
  await fetch(`${platform.url}/api/v1/${TOKEN}/telemetry`, { method: "POST", body });
  const base = `/api/plugins/telemetry/DEVICE/${deviceId}`;
  const read = async (query: string) => (await call("GET", `${base}/values/timeseries?${query}`)).text;
  t.is((await call("GET", `${base}/keys/timeseries`)).text, '["a","b"]');
  t.is(
    await read("keys=a,none&startTs=1&endTs=3&useStrictDataTypes=true"),
    '{"a":[{"ts":2,"value":2.0},{"ts":1,"value":1}]}',
  );
  t.is(
    await read("keys=a&startTs=0&endTs=9&orderBy=ASC&limit=2"),
    '{"a":[{"ts":1,"value":"1"},{"ts":2,"value":"2.0"}]}',
  );
  t.is(
    await read("keys=a,none&useStrictDataTypes=true"),
    `{"a":[{"ts":3,"value":{"n":1}}],"none":[{"ts":${START},"value":null}]}`,
  );
  t.is(
    await read("useStrictDataTypes=false"),
    '{"a":[{"ts":3,"value":"{\\"n\\":1}"}],"b":[{"ts":1,"value":"x"}]}',
  );
  t.is((await call("GET", `${base}/values/timeseries?keys=a&startTs=x&endTs=9`)).status, 400);
});

test("a device is active from its first request until it was silent for ten minutes", async (t) => {
  const { call, clock, deviceId, platform } = t.context;
  const info = async () => (await call("GET", "/api/tenant/deviceInfos?pageSize=10&page=0")).json.data[0];
  const server = async () =>
    (await call("GET", `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SERVER_SCOPE`)).text;
  t.is((await info()).active, false);
  t.is(await server(), "[]");
  await fetch(`${platform.url}/api/v1/${TOKEN}/attributes`);
  t.deepEqual([(await info()).active, (await info()).deviceProfileName], [true, "default"]);
  t.is(
    await server(),
    `[{"lastUpdateTs":${START},"key":"active","value":true},{"lastUpdateTs":${START},"key":"lastActivityTime","value":${START}}]`,
  );
  await clock.advance(600_000);
  t.is((await info()).active, false);
  t.is(
    (
      await call(
        "GET",
        `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SERVER_SCOPE?keys=lastActivityTime`,
      )
    ).json[0].value,
    START,
  );
});
