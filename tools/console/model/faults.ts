// Texts and presets of faults. tools/platform/faults/shapes.ts describes their JSON.

export interface Rule {
  fault: string;
  match?: { method?: string; path?: string; device?: string };
  skip?: number;
  count?: number;
  probability?: number;
  ms?: number;
  at?: "request" | "answer";
  afterBytes?: number;
  bytes?: number;
  status?: number;
  body?: string;
  by?: string;
}

export interface Member {
  name: "ms" | "status" | "by" | "at";
  label: string;
  value: string;
  /** Undefined: a number. */
  choices?: readonly string[];
}

export interface Explained {
  /** Its effect on a request. */
  sentence: string;
  /** Its settings. */
  members: readonly Member[];
}

const PROXIES = [
  ...["haproxy-503", "haproxy-504", "haproxy-400", "nginx-499", "nginx-502"],
  ...["nginx-504", "nginx-413", "nginx-414", "nginx-400"],
];
const at = (value: "request" | "answer"): Member => ({
  name: "at",
  label: "Lost",
  value,
  choices: ["request", "answer"],
});

export const FAULTS: Record<string, Explained> = {
  delay: {
    sentence: "Delays the answer by this many milliseconds.",
    members: [{ name: "ms", label: "Milliseconds", value: "1000" }],
  },
  drop: {
    sentence:
      "No answer comes, and the connection stays open. If only the answer is lost, the platform has processed the request.",
    members: [at("answer")],
  },
  reset: {
    sentence: "The connection is reset before the answer. The platform has processed the request.",
    members: [],
  },
  truncated: {
    sentence: "The answer ends early, and the connection closes normally.",
    members: [],
  },
  garbage: { sentence: "The device receives random bytes instead of the answer.", members: [] },
  status: {
    sentence: "The answer is this status without a body. If the request is lost, the platform never sees it.",
    members: [{ name: "status", label: "Status", value: "503" }, at("request")],
  },
  proxy: {
    sentence: "A proxy in front of the platform answers with its own page and closes the connection.",
    members: [{ name: "by", label: "Proxy", value: "haproxy-503", choices: PROXIES }, at("request")],
  },
  "not-stored": {
    sentence:
      "The platform answers telemetry and attributes with 200 but loses them, as when its database fails.",
    members: [],
  },
  "no-attributes": {
    sentence:
      "Attributes read as empty, as when the platform's database fails. The device must not treat them as deleted.",
    members: [],
  },
  "torn-firmware": {
    sentence:
      "Some fw_* attributes are those of the previous package, as when the device reads them during a change.",
    members: [],
  },
  eviction: {
    sentence:
      "The firmware request fails with an empty 500, as when the platform drops the file from its cache.",
    members: [],
  },
  "clock-skew": {
    sentence: "The platform's clock is this many milliseconds ahead; negative values are behind.",
    members: [{ name: "ms", label: "Milliseconds", value: "60000" }],
  },
  "provisioning-failure": {
    sentence: "The platform rejects a new device, as under load. The device may ask again.",
    members: [],
  },
};

export interface Preset {
  name: string;
  sentence: string;
  faults: readonly Rule[];
}

const PORTAL =
  "<!doctype html><html><head><title>Free Wi-Fi</title></head><body>Accept the terms to go on.</body></html>";

export const PRESETS: readonly Preset[] = [
  {
    name: "a flaky proxy",
    sentence:
      "A proxy fails one request in four: 502, 503, 504 or a reset. Some of these requests were processed by the platform.",
    faults: [
      { fault: "proxy", by: "nginx-502", probability: 0.08 },
      { fault: "proxy", by: "haproxy-503", probability: 0.08 },
      { fault: "proxy", by: "haproxy-504", at: "answer", probability: 0.05 },
      { fault: "reset", probability: 0.05 },
    ],
  },
  {
    name: "an overloaded platform",
    sentence:
      "Answers take seconds, and one in five is a 500 or 503. Attributes sometimes read as empty. New devices are rejected at first.",
    faults: [
      { fault: "delay", ms: 3_000, probability: 0.6 },
      { fault: "status", status: 500, at: "answer", probability: 0.1 },
      { fault: "status", status: 503, probability: 0.1 },
      { fault: "no-attributes", probability: 0.2 },
      { fault: "eviction", probability: 0.1 },
      { fault: "provisioning-failure", probability: 0.5, count: 5 },
    ],
  },
  {
    name: "airport Wi-Fi",
    sentence: "Answers are slow. One request in four is lost, or its answer ends early.",
    faults: [
      { fault: "delay", ms: 800, probability: 0.7 },
      { fault: "drop", at: "request", probability: 0.1 },
      { fault: "drop", at: "answer", probability: 0.08 },
      { fault: "truncated", probability: 0.06 },
      { fault: "reset", probability: 0.04 },
    ],
  },
  {
    name: "a power cut in an update",
    sentence:
      "The firmware download breaks off three times in the middle of a chunk. The device must resume it. To cut the power of an emulated board, run `mote esp32 --emulate --cut TIME`.",
    faults: [{ fault: "reset", afterBytes: 1_000, match: { path: "firmware" }, skip: 2, count: 3 }],
  },
  {
    name: "a captive portal",
    sentence:
      "Every request is answered with 200 and a foreign login page. The device must not accept it as an answer or lose data.",
    faults: [{ fault: "status", status: 200, body: PORTAL }],
  },
];

const NUMBER = new Intl.NumberFormat("en");

/** One sentence about a rule, with its own figures. */
export function explain(rule: Rule): string {
  const {
    fault,
    ms = 0,
    status,
    by,
    at: lost,
    afterBytes,
    match = {},
    probability = 1,
    count,
    skip = 0,
  } = rule;
  const what: Record<string, string> = {
    delay: `the answer is delayed by ${NUMBER.format(ms)} ms`,
    drop: `no answer comes; ${lost === "request" ? "the platform never saw it" : "the platform processed it"}`,
    reset: `the connection is reset ${afterBytes ? `after ${NUMBER.format(afterBytes)} bytes of the answer` : "before the answer"}`,
    truncated: "the answer ends early",
    garbage: "random bytes come instead of the answer",
    status: `the answer is ${status}${rule.body === undefined ? "" : " with a page that is not the platform's"}; ${lost === "answer" ? "the platform processed it" : "the platform never saw it"}`,
    proxy: `a proxy answers (${by}); ${lost === "answer" ? "the platform processed it" : "the platform never saw it"}`,
    "not-stored": "the platform answers 200 and loses the data",
    "no-attributes": "the attributes read as empty",
    "torn-firmware": "some fw_* attributes are those of the previous package",
    eviction: "the firmware request fails with an empty 500",
    "clock-skew": `the platform's clock is ${NUMBER.format(Math.abs(ms))} ms ${ms < 0 ? "behind" : "ahead"}`,
    "provisioning-failure": "a new device is rejected",
  };
  const whom = [match.method, match.path, match.device && `of ${match.device}`].filter(Boolean).join(" ");
  const often = probability < 1 ? `${Number((probability * 100).toFixed(1))} % of requests` : "Every request";
  const spared = skip > 0 ? ` after the first ${NUMBER.format(skip)}` : "";
  const times =
    count === undefined ? "" : `, ${count === 1 ? "once" : `${NUMBER.format(count)} times`} at most`;
  return `${often}${whom === "" ? "" : ` (${whom})`}${spared}: ${Object.hasOwn(what, fault) ? what[fault] : fault}${times}.`;
}
