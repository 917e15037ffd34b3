import test from "ava";
import { readConfig } from "../../../hosts/esp32/config.js";
import { planMemory, SMALLEST } from "../../../hosts/esp32/memory-plan.js";

const GOOD = {
  baseUrl: "https://platform.example.com",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: "k", secret: "s", deviceName: "greenhouse-7" },
  firmware: { title: "greenhouse", version: "1.0.0" },
};

test("a good configuration becomes options for the agent and the application", (t) => {
  t.deepEqual(readConfig(GOOD), {
    network: { ssid: "home", password: "correct horse" },
    intervalMs: 60_000,
    options: {
      baseUrl: GOOD.baseUrl,
      provisioning: GOOD.provisioning,
      firmware: { chunkBytes: 4096, title: "greenhouse", version: "1.0.0" },
      telemetry: { bufferBytes: 2048, batchBytes: 4096 },
      attributes: { answerBytes: 2048 },
      rpc: { requestBytes: 1024, answerBytes: 1024 },
    },
  });
});

test("the agent chooses how many connections; who says how many gets them", (t) => {
  const connectionsOf = (config: object, system = SMALLEST.system): unknown => {
    const settings = readConfig({ ...GOOD, ...config }, planMemory({ ...SMALLEST, system }).limits);
    return Array.isArray(settings) ? settings : settings.options.connections;
  };
  t.is(connectionsOf({ baseUrl: "http://platform.test" }), undefined);
  t.is(connectionsOf({}), undefined);
  for (const [system, most] of [
    [130_000, 2],
    [120_000, 1],
  ] as const)
    t.is(connectionsOf({}, system), most, "over TLS as many as the memory allows");
  t.is(connectionsOf({ connections: 3 }), 3);
});

test("a second network is one like the first, or wrong under its own name", (t) => {
  const second = { ssid: "shed", password: "another horse" };
  const settings = readConfig({ ...GOOD, wifi: { ...GOOD.wifi, second } });
  t.deepEqual(Array.isArray(settings) ? settings : settings.network, { ...GOOD.wifi, second });
  t.deepEqual(readConfig({ ...GOOD, wifi: { ...GOOD.wifi, second: { password: "short" } } }), [
    "config.wifi.second.ssid is a text of 1 to 32 characters",
    "config.wifi.second.password has 8 to 64 characters, or is left out",
  ]);
});

test("what lies in ROM is copied", (t) => {
  const settings = readConfig(GOOD);
  t.true(!Array.isArray(settings) && settings.options.provisioning !== GOOD.provisioning);
});

test("members of other modules are none of its business", (t) => {
  t.false(Array.isArray(readConfig({ ...GOOD, format: "x", led: { pin: 2 }, tls: {}, screen: "" })));
});

test("every mistake in what is its own is reported by name, and no value of it", (t) => {
  for (const wifi of [
    undefined,
    null,
    "home",
    {},
    { ssid: "" },
    { ssid: "a-name-that-is-longer-than-32-characters" },
  ])
    t.deepEqual(readConfig({ ...GOOD, wifi }), ["config.wifi.ssid is a text of 1 to 32 characters"]);
  for (const password of ["short!", 12345678, "x".repeat(65)])
    t.deepEqual(readConfig({ ...GOOD, wifi: { ssid: "home", password }, intervalMs: -1 }), [
      "config.wifi.password has 8 to 64 characters, or is left out",
      "config.intervalMs is a number of milliseconds",
    ]);
});
