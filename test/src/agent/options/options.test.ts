import { readFileSync } from "node:fs";
import test from "ava";
import { Agent, type AgentOptions, MoteError, VERSION } from "../../../../src/index.js";
import { fakeHost } from "../../../fakes/host.js";

const GOOD: AgentOptions = { baseUrl: "https://platform.example.com", token: "A1_TEST_TOKEN" };
const mistakes = (options: unknown): string[] => {
  try {
    new Agent(fakeHost(), options as AgentOptions);
    return [];
  } catch (error) {
    if (error instanceof MoteError && error.code === "BAD_OPTIONS") return error.message.split("; ");
    throw error;
  }
};

test("the least that is needed is a base URL, and a token or provisioning", (t) => {
  t.deepEqual(mistakes(GOOD), []);
  t.deepEqual(mistakes({ baseUrl: "http://[::1]:8080/tb/", provisioning: { key: "k", secret: "s" } }), []);
});

test("all wrong options are reported at once, each by its name", (t) => {
  const reported = mistakes({
    baseUrl: "platform.example.com",
    provisioning: { key: "", secret: 5, deviceName: " " },
    connections: 4,
    telemetry: { batchPoints: 0, drop: "some" },
    attributes: { answerBytes: 1 },
    rpc: { requestBytes: 0.5, answerBytes: 70_000 },
    firmware: { title: "", version: "1" },
    color: "blue",
  });
  for (const name of [
    "color",
    "baseUrl",
    "provisioning.key",
    "provisioning.secret",
    "provisioning.deviceName",
    "connections",
    "telemetry.batchPoints",
    "telemetry.drop",
    "attributes.answerBytes",
    "rpc.requestBytes",
    "rpc.answerBytes",
    "firmware.title",
  ]) {
    t.true(
      reported.some((line) => line.includes(name)),
      `${name} in ${reported.join("; ")}`,
    );
  }
});

test("what is no option and what is no group of options is reported by its name", (t) => {
  t.deepEqual(
    mistakes({
      ...GOOD,
      provisioning: { key: "k", secret: "s", name: "greenhouse-7" },
      attributes: { bytes: 1 },
      rpc: 7,
      telemetry: null,
      firmware: null,
    }),
    [
      'there is no option "attributes.bytes"',
      "rpc is an object of options",
      'there is no option "provisioning.name"',
      "telemetry is an object of options",
      "firmware is an object of options",
    ],
  );
  t.deepEqual(mistakes({ ...GOOD, provisioning: null }), ["provisioning is an object of options"]);
  for (const options of [undefined, null, "x", []])
    t.deepEqual(mistakes(options), ["the options are an object"]);
});

test("no value of an option is quoted: it may be a secret", (t) => {
  const reported = mistakes({
    baseUrl: "https://user:hunter2@host",
    token: "hun/ter2",
    provisioning: { key: 5, secret: "" },
  });
  t.true(reported.length >= 4);
  t.notRegex(reported.join(), /hunter2|hun\/ter2/);
});

const BASE_URLS: [string, boolean][] = [
  ["http://127.0.0.1:8080", true],
  ["https://platform.example.com/", true],
  ["https://platform.example.com/path/below", true],
  ["HTTPS://PLATFORM.example.com", true],
  ["ftp://platform.example.com", false],
  ["https://platform.example.com?x=1", false],
  ["https://platform.example.com#x", false],
  ["https://user@platform.example.com", false],
  ["https://platform.example.com:0", false],
  ["https://platform.example.com:65536", false],
  ["https://platform.example.com/a b", false],
  ["https://", false],
  ["", false],
];
for (const [baseUrl, good] of BASE_URLS) {
  test(`"${baseUrl}" ${good ? "is" : "is not"} taken for a base URL`, (t) => {
    t.is(mistakes({ ...GOOD, baseUrl }).length, good ? 0 : 1);
  });
}

test("the version is that of the package", (t) => {
  t.is(VERSION, JSON.parse(readFileSync("package.json", "utf8")).version);
});
