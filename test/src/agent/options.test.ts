import { readFileSync } from "node:fs";
import test from "ava";
import { telemetrySettings } from "../../../src/agent/queue/options.js";
import { Agent, type AgentOptions, MoteError, VERSION } from "../../../src/index.js";
import { fakeHost } from "../../fakes/host.js";

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
    telemetry: {
      ...{ batchPoints: 0, batchBytes: 1.5, batchPionts: 3 },
      ...{ timestamps: "server", durable: "yes", drop: "some" },
    },
    attributes: { answerBytes: 1 },
    rpc: { requestBytes: 0.5, answerBytes: 70_000 },
    firmware: { title: "", version: "1" },
    color: "blue",
  });
  for (const name of [
    ...["color", "baseUrl", "provisioning.key", "provisioning.secret", "provisioning.deviceName"],
    ...["connections", "telemetry.batchPoints", "telemetry.batchBytes", "telemetry.batchPionts"],
    ...["telemetry.timestamps", "telemetry.durable", "telemetry.drop", "attributes.answerBytes"],
    ...["rpc.requestBytes", "rpc.answerBytes", "firmware.title"],
  ])
    t.true(reported.join("; ").includes(name), `${name} in ${reported.join("; ")}`);
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
      'unknown option "attributes.bytes"',
      "rpc must be an object of options",
      'unknown option "provisioning.name"',
      "telemetry must be an object of options",
      "firmware must be an object of options",
    ],
  );
  t.is(mistakes({ ...GOOD, telemetry: JSON.parse('{"__proto__":1,"constructor":2}') }).length, 2);
  t.deepEqual(mistakes({ ...GOOD, provisioning: null }), ["provisioning must be an object of options"]);
  for (const options of [undefined, null, "x", []])
    t.deepEqual(mistakes(options), ["the options must be an object"]);
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

test("the version is that of the package", (t) => {
  t.is(VERSION, JSON.parse(readFileSync("package.json", "utf8")).version);
});

test("the defaults are as documented", (t) => {
  t.deepEqual(telemetrySettings({}), {
    timestamps: "device",
    batchPoints: 50,
    batchBytes: 8192,
    batchAgeMs: 1000,
    bufferBytes: 16_384,
    durable: true,
    drop: "oldest",
  });
});

// Which values the firmware's options take.

const firmwareMistakes = (firmware: object): string[] =>
  mistakes({ ...GOOD, firmware: { title: "lamp", version: "1", ...firmware } });

// The generator of P-256, which is a point of it.
const POINT =
  "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
  "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
const call = () => true;

for (const [name, good, bad] of [
  ["title", ["x", "x".repeat(255)], ["", " ", "x".repeat(256), undefined, 1]],
  ["version", ["1", "x".repeat(255)], ["", "\t", "x".repeat(256), undefined, {}]],
  ["allow", [undefined, call], [null, true]],
  ["selfTest", [undefined, call], [null, true]],
  ["publicKey", [undefined, POINT], ["", POINT.slice(2), `${POINT.slice(0, -1)}4`, `05${POINT.slice(2)}`, 4]],
  [
    "urlHosts",
    [undefined, [], ["files.test"], ["files.test:8443", "10.0.0.1", "[::1]:80"]],
    [["Files.test"], ["https://a.test"], ["a.test/x"], ["a.test", ""], ["me@a.test"], [5], "a.test", null],
  ],
  ["allowUnverified", [undefined, false, true], [null, 0]],
  ["allowHttp", [undefined, false, true], [null, "false"]],
  ["spreadMs", [undefined, 0, 604_800_000], [-1, 1.5, 604_800_001, "10m"]],
  ["minimumVersion", [undefined, "1.2.0", "v1"], ["", "x", "1.", 1, "1-rc", "1.0+a"]],
  ["chunkBytes", [undefined, 1024, 16_384, 65_536], [0, 512, 1023, 3072, 131_072, -1024, "1024"]],
] as const) {
  test(`firmware.${name} takes what it may be, and anything else is reported by its name`, (t) => {
    for (const value of good) t.deepEqual(firmwareMistakes({ [name]: value }), [], `${value}`);
    for (const value of bad) {
      const reported = firmwareMistakes({ [name]: value });
      t.is(reported.length, 1, `${value}`);
      t.regex(reported[0] ?? "", new RegExp(`^firmware\\.${name} \\w.+`));
    }
  });
}

test("refuses a wake that ends before the trial of an image", (t) => {
  const firmware = { title: "lamp", version: "1" };
  const cycle = { updateMs: 100_000 };
  const problem = "cycle.updateMs must be at least twice firmware.trialMs";
  t.deepEqual(mistakes({ ...GOOD, cycle, firmware }), [problem]);
  t.deepEqual(mistakes({ ...GOOD, cycle, firmware: { ...firmware, trialMs: 50_000 } }), []);
  t.deepEqual(mistakes({ ...GOOD, cycle }), []);
});
