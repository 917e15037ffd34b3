// The faults of the switchboard in sentences, and the presets that put several together. The local platform has their JSON in
// tools/platform/faults/shapes.ts.

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
  /** What happens to a request. */
  sentence: string;
  /** What can be set for it. */
  members: readonly Member[];
}

const PROXIES = [
  ...["haproxy-503", "haproxy-504", "haproxy-400", "nginx-499", "nginx-502"],
  ...["nginx-504", "nginx-413", "nginx-414", "nginx-400"],
];
const at = (value: "request" | "answer"): Member => ({
  name: "at",
  label: "Lost is the",
  value,
  choices: ["request", "answer"],
});

export const FAULTS: Record<string, Explained> = {
  delay: {
    sentence: "The answer leaves so many milliseconds later.",
    members: [{ name: "ms", label: "Milliseconds", value: "1000" }],
  },
  drop: {
    sentence:
      "Nothing comes back and the connection stays open. With the answer lost the platform did what was asked, and the device can't know.",
    members: [at("answer")],
  },
  reset: {
    sentence: "The connection is reset before the answer: the platform did what was asked.",
    members: [],
  },
  truncated: {
    sentence: "The answer ends in the middle, and the connection is closed in order.",
    members: [],
  },
  garbage: { sentence: "Random bytes come in place of the answer.", members: [] },
  status: {
    sentence: "The answer is that status without a body. With the request lost the platform never saw it.",
    members: [{ name: "status", label: "Status", value: "503" }, at("request")],
  },
  proxy: {
    sentence: "A proxy in front of the platform answers in its own bytes, and closes the connection.",
    members: [{ name: "by", label: "Proxy", value: "haproxy-503", choices: PROXIES }, at("request")],
  },
  "not-stored": {
    sentence:
      "Telemetry and attributes are answered 200 and lost, as when the platform's database fails after the answer.",
    members: [],
  },
  "no-attributes": {
    sentence:
      "The attributes read as empty, as when the platform's database fails: no value may be taken for deleted.",
    members: [],
  },
  "torn-firmware": {
    sentence:
      "Some of the fw_* attributes are those of the package before, as when they are read while they change.",
    members: [],
  },
  eviction: {
    sentence:
      "The firmware is an empty 500, as when the file leaves the platform's cache in the middle of a download.",
    members: [],
  },
  "clock-skew": {
    sentence: "The platform's clock is so many milliseconds ahead, or behind if it is less than 0.",
    members: [{ name: "ms", label: "Milliseconds", value: "60000" }],
  },
  "provisioning-failure": {
    sentence: "A new device is refused, as under load; its name stays free, and it may ask again.",
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
      "One request in four meets the proxy instead of the platform: 502, 503, 504, or a connection that ends. Half of the 504s hide that the platform did what was asked.",
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
      "Answers take seconds, one in five is a 500 or 503, attributes now and then read as empty, and new devices are refused at first.",
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
    sentence: "Slow, and one request in four is lost on its way there or back, or cut off in the middle.",
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
      "What the platform sees of it: the download of the firmware breaks off in the middle of a piece, three times. The device has to go on where it was. (The power of an emulated board is cut by `mote esp32 --emulate --cut TIME`.)",
    faults: [{ fault: "reset", afterBytes: 1_000, match: { path: "firmware" }, skip: 2, count: 3 }],
  },
  {
    name: "a captive portal",
    sentence:
      "Every request is answered 200 with a login page that is not the platform's. Nothing of it may be taken for an answer, and nothing may be lost.",
    faults: [{ fault: "status", status: 200, body: PORTAL }],
  },
];

const NUMBER = new Intl.NumberFormat("en");

/** What a rule does, in a sentence with its own figures. */
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
    delay: `the answer leaves ${NUMBER.format(ms)} ms later`,
    drop: `nothing comes back; ${lost === "request" ? "the platform never saw it" : "the platform did what was asked"}`,
    reset: `the connection is reset ${afterBytes ? `after ${NUMBER.format(afterBytes)} bytes of the answer` : "before the answer"}`,
    truncated: "the answer ends in the middle",
    garbage: "random bytes come in place of the answer",
    status: `the answer is ${status}${rule.body === undefined ? "" : " with a page that is not the platform's"}; ${lost === "answer" ? "the platform did what was asked" : "the platform never saw it"}`,
    proxy: `a proxy answers (${by}); ${lost === "answer" ? "the platform did what was asked" : "the platform never saw it"}`,
    "not-stored": "the platform answers 200 and loses the data",
    "no-attributes": "the attributes read as empty",
    "torn-firmware": "some of the fw_* attributes are those of before",
    eviction: "the firmware is an empty 500",
    "clock-skew": `the platform's clock is ${NUMBER.format(Math.abs(ms))} ms ${ms < 0 ? "behind" : "ahead"}`,
    "provisioning-failure": "a new device is refused",
  };
  const whom = [match.method, match.path, match.device && `of ${match.device}`].filter(Boolean).join(" ");
  const often = probability < 1 ? `${Number((probability * 100).toFixed(1))} % of requests` : "Every request";
  const spared = skip > 0 ? ` after the first ${NUMBER.format(skip)}` : "";
  const times =
    count === undefined ? "" : `, ${count === 1 ? "once" : `${NUMBER.format(count)} times`} at most`;
  return `${often}${whom === "" ? "" : ` (${whom})`}${spared}: ${Object.hasOwn(what, fault) ? what[fault] : fault}${times}.`;
}
