// What a factory writes is what a device reads: by the device's own code, and by ESP-IDF's own tool where it is installed.
import { spawnSync } from "node:child_process";
import test from "ava";
import { readStoredSettings } from "../../../../extras/commissioning/stored-settings.js";
import { AGENT, OWN } from "../../../../hosts/esp32/store.js";
import { findNvsTool, makeNvs, rowsFor, storesOf } from "../../../../tools/moddable/factory/nvs-image.js";
import { SdkError } from "../../../../tools/moddable/sdk.js";
import { fakeHost } from "../../../fakes/host.js";

const VALUES = { url: "https://p.example.com", token: "T-3141", ssid: "home", password: "correct horse" };
const LAMP = { name: "lamp-1", label: "on its label", values: VALUES };

test("the device's own code reads what its owner would have given", (t) => {
  const host = fakeHost();
  for (const [key, value] of storesOf(LAMP).get(AGENT) ?? []) host.store.set(key, value);
  t.like(readStoredSettings(host), VALUES);
  t.deepEqual([...host.store.values.keys()].sort(), [
    "site",
    "site-old",
    "token",
    "token-old",
    "wifi",
    "wifi-old",
  ]);
});

test("a device that its owner commissions has its name and label alone", (t) => {
  const stores = storesOf({ ...LAMP, values: {} });
  t.is(stores.get(AGENT)?.size, 0);
  const own = [...(stores.get(OWN) ?? [])].map(([key, value]) => [key, Buffer.from(value).toString()]);
  t.deepEqual(own, [
    ["name", "lamp-1"],
    ["label", "on its label"],
  ]);
  t.notRegex(rowsFor({ ...LAMP, values: {} }), /^mote,/m);
});

test("nothing that a device is given can become a row of its own", (t) => {
  const hostile = {
    ...LAMP,
    label: 'x",y\ntoken,data,string,evil',
    values: { ...VALUES, password: "\r\n#,=1+1" },
  };
  for (const line of rowsFor(hostile).trim().split("\n"))
    t.regex(line, /^[\w-]+,(?:type,encoding,value|namespace,,|data,base64,[\w+/=]+)$/);
});

test("a missing tool is said with what installs it", async (t) => {
  await t.throwsAsync(findNvsTool({ PATH: "/nowhere" }), {
    instanceOf: SdkError,
    message: /pip install esp-idf-nvs/,
  });
});

const pythons = [`${process.env.IDF_PYTHON_ENV_PATH}/bin/python`, "python3", "python"];
const isThere = pythons.some(
  (python) => spawnSync(python, ["-m", "esp_idf_nvs_partition_gen", "--help"]).status === 0,
);
(isThere ? test : test.skip)("nvs_partition_gen makes an image of it, of the partition's size", async (t) => {
  const tool = await findNvsTool();
  const image = await makeNvs(tool, LAMP, 0x6000);
  t.is(image.length, 0x6000);
  for (const text of [
    "lamp-1",
    "on its label",
    '{"ssid":"home","password":"correct horse"}',
    '"token":"T-3141"',
  ])
    t.true(image.includes(text), text);
});

test("a tool that fails is said, and nothing of what it was given", async (t) => {
  const error = await t.throwsAsync(makeNvs(["false"], LAMP, 0x6000), { instanceOf: SdkError });
  t.regex(error?.message ?? "", /no image for lamp-1/);
  t.notRegex(error?.message ?? "", /T-3141|correct/);
});
