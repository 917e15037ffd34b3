// What the platform's official clients send that others don't (end-to-end/clients runs the clients themselves).
import { TOKEN, test } from "./rest-rig.js";

const PROFILE_ID = /^[0-9a-f-]{36}$/;

async function send(
  url: string,
  token: string,
  body: string | FormData,
  type?: string,
): Promise<{ status: number; text: string }> {
  const headers = {
    "x-authorization": `Bearer ${token}`,
    ...(type !== undefined && { "content-type": type }),
  };
  const answer = await fetch(url, { method: "POST", headers, body });
  return { status: answer.status, text: await answer.text() };
}

test("attributes and RPCs come as text/plain, too", async (t) => {
  const { platform, tenant, deviceId } = t.context;
  const path = `${platform.url}/api/plugins/telemetry/DEVICE/${deviceId}/SHARED_SCOPE`;
  for (const type of ["text/plain", "text/plain;charset=UTF-8", "application/json"])
    t.is((await send(path, tenant, '{"a":1}', type)).status, 200, type);
  const poll = fetch(`${platform.url}/api/v1/${TOKEN}/rpc?timeout=5000`).then((answer) => answer.text());
  const rpc = '{"method":"m","params":{}}';
  t.is((await send(`${platform.url}/api/rpc/oneway/${deviceId}`, tenant, rpc, "text/plain")).status, 200);
  t.is(await poll, '{"id":0,"method":"m","params":{}}');
});

test("a package's algorithm is taken from the query or from a field beside the file", async (t) => {
  const { platform, tenant, call } = t.context;
  for (const place of ["query", "field"]) {
    const title = `by ${place}`;
    const made = await call("POST", "/api/otaPackage", { title, version: "1", type: "FIRMWARE" });
    const form = new FormData();
    form.append("file", new Blob(["bytes"]), "image.bin");
    if (place === "field") form.append("checksumAlgorithm", "SHA256");
    const query = place === "query" ? "?checksumAlgorithm=SHA256" : "";
    const path = `${platform.url}/api/otaPackage/${made.json.id.id}${query}`;
    t.is((await send(path, tenant, form)).status, 200, place);
  }
});

test("booleans are read as Spring reads them", async (t) => {
  const { platform, call, deviceId } = t.context;
  const device = platform.core.devices.get(deviceId)!;
  const base = `/api/plugins/telemetry/DEVICE/${deviceId}`;
  for (const [spelt, isTrue] of [
    ...["true", "True", "TRUE", "1", "on", "yes"].map((one) => [one, true] as const),
    ...["false", "False", "0", "off", "no"].map((one) => [one, false] as const),
  ]) {
    device.series.save("t", 1, 2n);
    const read = await call("GET", `${base}/values/timeseries?keys=t&useStrictDataTypes=${spelt}`);
    t.is(read.json.t[0].value, isTrue ? 2 : "2", spelt);
    const path = `${base}/timeseries/delete?keys=t&deleteAllDataForKeys=${spelt}`;
    t.is((await call("DELETE", path)).status, isTrue ? 200 : 400, spelt);
  }
  t.is((await call("GET", `${base}/values/timeseries?useStrictDataTypes=perhaps`)).status, 400);
});

test("what clients look for is there: types, names, infos, counts, several devices, customers", async (t) => {
  const { call, deviceId } = t.context;
  const read = async (path: string) => {
    const { status, json } = await call("GET", path);
    t.is(status, 200, path);
    return json;
  };
  t.is((await read("/api/device/types"))[0].type, "default");
  t.true((await read("/api/deviceProfile/names"))[0].name.length > 0);
  const infos = await read("/api/deviceProfileInfos?pageSize=10&page=0");
  const profileId = infos.data.find(({ name }: { name: string }) => name === "default").id.id;
  t.regex(profileId, PROFILE_ID);
  t.is((await read(`/api/device/info/${deviceId}`)).deviceProfileName, "default");
  t.is((await read(`/api/devices?deviceIds=${deviceId}`)).length, 1);
  t.is(await read(`/api/devices/count/FIRMWARE/${profileId}`), 1);
  t.is((await read("/api/customers?pageSize=10&page=0")).totalElements, 1);
  const credentials = { credentialsType: "ACCESS_TOKEN", credentialsId: "second-token" };
  const body = { device: { name: "second", type: "default" }, credentials };
  t.is((await call("POST", "/api/device-with-credentials", body)).status, 200);
  const points = `/api/plugins/telemetry/DEVICE/${deviceId}/timeseries/ANY`;
  t.is((await call("POST", points, { ts: 1, values: { a: 1 } })).status, 200);
});

test("time series are combined: MIN, MAX, AVG, SUM, COUNT and NONE, with interval, limit and order", async (t) => {
  const { platform, call, deviceId } = t.context;
  const { series } = platform.core.devices.get(deviceId)!;
  for (const [ts, value] of [
    [1_000, 1n],
    [2_000, 2n],
    [3_000, 6n],
    [6_000, 10n],
  ] as const)
    series.save("t", ts, value);
  const read = async (more: string): Promise<[number, number][]> => {
    const query = `keys=t&startTs=0&endTs=10000&useStrictDataTypes=true&${more}`;
    const { json } = await call(
      "GET",
      `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?${query}`,
    );
    return (json.t as { ts: number; value: number }[]).map(({ ts, value }) => [ts, value]);
  };
  for (const [agg, first] of [
    ["MIN", 1],
    ["MAX", 6],
    ["AVG", 3],
    ["SUM", 9],
    ["COUNT", 3],
  ] as const) {
    const second = agg === "COUNT" ? 1 : 10;
    const found = await read(`agg=${agg}&interval=5000`);
    t.deepEqual(
      found.sort(([one], [other]) => one - other),
      [
        [2_500, first],
        [7_500, second],
      ],
      agg,
    );
  }
  t.deepEqual(await read("agg=NONE&limit=2&orderBy=ASC"), [
    [1_000, 1],
    [2_000, 2],
  ]);
  t.deepEqual(await read("agg=NONE&limit=2&orderBy=DESC"), [
    [6_000, 10],
    [3_000, 6],
  ]);
});
