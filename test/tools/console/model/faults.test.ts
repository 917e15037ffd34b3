// The switchboard in sentences: each fault has one, each preset is taken by the platform, and what faults did is read from the requests.
import test from "ava";
import { effectsOf, type Logged } from "../../../../tools/console/model/fault-effects.js";
import { explain, FAULTS, PRESETS } from "../../../../tools/console/model/faults.js";
import { FAULTS as NAMES, readPost } from "../../../../tools/platform/faults/shapes.js";

test("every fault of the platform is explained, and no other", (t) => {
  t.deepEqual(Object.keys(FAULTS).sort(), [...NAMES].sort());
  for (const [name, { sentence, members }] of Object.entries(FAULTS)) {
    t.regex(sentence, /^[A-Z].{20,}\.$/, name);
    const set = Object.fromEntries(
      members.map(({ name: of, value, choices }) => [of, choices ? value : Number(value)]),
    );
    t.notThrows(() => readPost({ faults: [{ fault: name, ...set }] }), name);
    for (const { name: of, choices = [] } of members)
      for (const choice of choices)
        t.notThrows(() => readPost({ faults: [{ fault: name, ...set, [of]: choice }] }), choice);
    t.notRegex(explain({ fault: name, ...set }), /undefined/, name);
  }
});

test("the five presets are taken by the platform and say what they do", (t) => {
  t.deepEqual(
    PRESETS.map(({ name }) => name),
    [
      "a flaky proxy",
      "an overloaded platform",
      "airport Wi-Fi",
      "a power cut in an update",
      "a captive portal",
    ],
  );
  for (const { name, sentence, faults } of PRESETS) {
    t.regex(sentence, /^[A-Z].{40,}/, name);
    t.is(readPost({ faults: [...faults] }).faults.length, faults.length, name);
  }
});

test("a rule is shown with its own figures", (t) => {
  t.is(explain({ fault: "delay", ms: 3_000 }), "Every request: the answer leaves 3,000 ms later.");
  t.is(
    explain({
      fault: "status",
      status: 503,
      probability: 0.2,
      count: 3,
      match: { path: "telemetry", device: "d" },
    }),
    "20 % of requests (telemetry of d): the answer is 503; the platform never saw it, 3 times at most.",
  );
  t.is(
    explain({ fault: "reset", afterBytes: 1_000, skip: 2, count: 1, match: { path: "firmware" } }),
    "Every request (firmware) after the first 2: the connection is reset after 1,000 bytes of the answer, once at most.",
  );
  t.is(explain({ fault: "clock-skew", ms: -5 }), "Every request: the platform's clock is 5 ms behind.");
  t.is(explain({ fault: "constructor" }), "Every request: constructor.");
});

function request(ts: number, path: string, status: number, faults?: string[], device = "d"): Logged {
  return {
    ts,
    method: "POST",
    path: `/api/v1/***/${path}`,
    device,
    status,
    durationMs: 10,
    ...(faults && { faults }),
  };
}

test("what each fault did to each device: how often, what it saw, how long it waited, and what still fails", (t) => {
  t.deepEqual(effectsOf([request(1, "telemetry", 200)]), []);
  const all = [
    request(1_000, "telemetry", 503, ["status"]),
    request(1_500, "attributes", 200, ["delay"]),
    request(2_000, "telemetry", 0, ["drop"]),
    request(3_000, "telemetry", 503, ["delay", "status"]),
    request(4_000, "telemetry?x=1", 200),
    request(5_000, "rpc/1", 200, ["status"]),
    request(6_000, "telemetry", 200, ["no-attributes"], "e"),
  ];
  t.deepEqual(effectsOf(all), [
    { fault: "status", device: "d", hit: 3, answers: "503 ×2, 200 ×1", longestMs: 3_010, open: 1 },
    { fault: "delay", device: "d", hit: 2, answers: "200 ×1, 503 ×1", longestMs: 1_010, open: 0 },
    { fault: "drop", device: "d", hit: 1, answers: "no answer ×1", longestMs: 2_010, open: 0 },
    { fault: "no-attributes", device: "e", hit: 1, answers: "200 ×1", longestMs: undefined, open: 1 },
  ]);
  t.is(effectsOf([...all, request(7_000, "rpc/2", 200)])[0]?.open, 0);
});
