// The models of the console's pages, and its files, without a browser.

import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import test from "ava";
import { FAILURES } from "../../../src/agent/firmware/failures.js";
import { runCommand } from "../../../tools/console/model/access.js";
import {
  emptyText,
  lastValueOf,
  listedDevice,
  listOf,
  platformQuery,
  queryOf,
} from "../../../tools/console/model/device-list.js";
import { isDiagnostic } from "../../../tools/console/model/diagnostic.js";
import { effectsOf, type Logged } from "../../../tools/console/model/fault-effects.js";
import { explain, FAULTS, PRESETS } from "../../../tools/console/model/faults.js";
import {
  ago,
  bytes,
  clock,
  counted,
  duration,
  rate,
  readable,
  rounded,
  tick,
  unitOf,
} from "../../../tools/console/model/format.js";
import { guardOf } from "../../../tools/console/model/guard.js";
import { type Deletion, Pending, UNDO_MS } from "../../../tools/console/model/pending.js";
import { type Noted, rolloutsOf } from "../../../tools/console/model/rollouts.js";
import { routeOf, titled } from "../../../tools/console/model/routes.js";
import { isDrawable, MOST_POINTS, rowsOf, Series } from "../../../tools/console/model/series.js";
import { type History, pictureOf, type Reading } from "../../../tools/console/model/update.js";
import { type Stage, stageOf, stateName, stateWord } from "../../../tools/operator/update-state.js";
import { FAULTS as NAMES, readPost } from "../../../tools/platform/faults/shapes.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { builtFile } from "../../../tools/project.js";
import { VirtualClock } from "../platform/rig.js";

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
  t.is(explain({ fault: "delay", ms: 3_000 }), "Every request: the answer is delayed by 3,000 ms.");
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

test("summarizes each fault's effect per device", (t) => {
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

// Deletions that can be undone: nothing is sent before its time, and nothing is said to be deleted that is not.

interface Rig {
  pending: Pending;
  clock: VirtualClock;
  sent: [path: string, leaving: boolean][];
  states: string[];
}

function rig(send: (deletion: Deletion) => Promise<void> = async () => {}): Rig {
  const clock = new VirtualClock();
  const sent: Rig["sent"] = [];
  const states: string[] = [];
  const pending = new Pending({
    send: (deletion, leaving) => {
      sent.push([deletion.path, leaving]);
      return send(deletion);
    },
    onState: ({ name }, state, error) =>
      states.push(`${name} ${state}${error instanceof Error ? `: ${error.message}` : ""}`),
    timer: (ms, callback) => clock.timer(ms, callback),
  });
  return { pending, clock, sent, states };
}
const A = { path: "/api/device/a", name: "a" };
const B = { path: "/api/device/b", name: "b" };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a deletion is sent after ten seconds, once", async (t) => {
  const { pending, clock, sent, states } = rig();
  pending.add(A);
  pending.add(A);
  clock.advance(UNDO_MS - 1);
  t.deepEqual([sent.length, pending.has(A.path)], [0, true]);
  clock.advance(1);
  await settled();
  t.deepEqual(sent, [[A.path, false]]);
  t.deepEqual(states, ["a waiting", "a sent"]);
  await pending.flush(true);
  t.is(sent.length, 1);
  t.is(UNDO_MS, 10_000);
});

test("one that is undone is never sent", async (t) => {
  const { pending, clock, sent, states } = rig();
  pending.add(A);
  clock.advance(UNDO_MS - 1);
  pending.undo(A.path);
  pending.undo(A.path);
  clock.advance(UNDO_MS);
  await pending.flush(true);
  t.deepEqual(sent, []);
  t.deepEqual(states, ["a waiting", "a undone"]);
});

test("when the page is left all that waits is sent at once", async (t) => {
  const { pending, clock, sent } = rig();
  pending.add(A);
  pending.add(B);
  await pending.flush(true);
  clock.advance(UNDO_MS);
  t.deepEqual(sent, [
    [A.path, true],
    [B.path, true],
  ]);
});

test("one that fails is said to have failed, and can be tried again", async (t) => {
  const { pending, clock, states } = rig(() => Promise.reject(new Error("no connection")));
  pending.add(A);
  clock.advance(UNDO_MS);
  await settled();
  t.deepEqual(states, ["a waiting", "a failed: no connection"]);
  t.false(pending.has(A.path));
  pending.add(A);
  t.true(pending.has(A.path));
});

// Rollouts by stages, as the page of updates shows them.

const note = (stage: number, more: object = {}): string =>
  JSON.stringify({
    ...{ package: "p", title: "pump", version: "2.0.0", stage, plan: [1, 4, 10], at: 5 },
    ...more,
  });
const of = (stage: Stage, text: string): Noted => ({ stage, note: text });

test("each stage says how many stand where, and whether it is over", (t) => {
  const [rollout, ...more] = rolloutsOf([
    of("confirmed", note(1, { passed: true })),
    of("confirmed", note(2)),
    of("downloading", note(2)),
    of("none", ""),
  ]);
  t.deepEqual(more, []);
  t.is(rollout?.name, "pump 2.0.0");
  t.deepEqual(rollout?.stages, [
    { title: "Stage 1: 1 device", state: "done", note: "1 good" },
    { title: "Stage 2: 3 devices", state: "now", note: "1 updating, 1 confirmed, observed, 1 not assigned" },
    { title: "Stage 3: 6 devices", state: "ahead", note: "6 not assigned" },
  ]);
});

test("a stage with a device that failed, or passed and was rolled back later, says so", (t) => {
  const [rollout] = rolloutsOf([of("rolledBack", note(1, { passed: true })), of("failed", note(2))]);
  t.deepEqual(
    rollout?.stages.map(({ state }) => state),
    ["failed", "failed", "ahead"],
  );
  t.is(rollout?.stages[0]?.note, "1 failed");
});

test("the newest rollout comes first, and what anybody else wrote there is none", (t) => {
  const found = rolloutsOf([
    of("confirmed", note(1)),
    of("confirmed", note(1, { package: "q", version: "3.0.0", at: 9 })),
    ...[
      "{",
      "5",
      "null",
      "[]",
      '{"package":"x"}',
      note(1, { plan: [] }),
      note(1, { plan: "1" }),
      note(1, { title: 5 }),
    ].map((text) => of("confirmed", text)),
    of("confirmed", note(1, { plan: Array(101).fill(1) })),
  ]);
  t.deepEqual(
    found.map(({ name }) => name),
    ["pump 3.0.0", "pump 2.0.0"],
  );
});

// What the console's pages show, as far as it needs no page: names of pages, numbers, points, the list of devices.

const ID = "7c5e0000-1dd2-11b2-8080-808080808080";
const NOW = Date.UTC(2026, 10, 22, 12);

test("an address leads to its page, and what is none to the page that says so", (t) => {
  t.is(routeOf("").page, "devices");
  t.is(routeOf("#/").page, "devices");
  t.is((routeOf("#/?search=a%26b") as { query: URLSearchParams }).query.get("search"), "a&b");
  t.deepEqual(routeOf(`#/device/${ID}`), { page: "device", id: ID });
  t.deepEqual(routeOf(`#/device/${ID.toUpperCase()}/update`), { page: "update", id: ID });
  t.is(routeOf("#/updates?state=failed").page, "updates");
  t.is(routeOf("#/faults").page, "faults");
  for (const hash of ["#/device/", "#/device/1", `#/device/${ID}/x`, "#/nothing", "#main<img>"])
    t.is(routeOf(hash).page, "unknown", hash);
  t.is(titled("Updates"), "Updates · Mote console");
});

test("bytes have the unit that fits, and times one unit", (t) => {
  t.is(bytes(50_000_000), "50 MB");
  t.is(bytes(0), "0 bytes");
  t.is(bytes(1), "1 byte");
  t.is(bytes(999), "999 bytes");
  t.is(bytes(1_234), "1.23 kB");
  t.is(bytes(999_999), "1 MB");
  t.is(bytes(2_500_000_000_000), "2,500 GB");
  t.is(bytes(undefined), "size not known");
  t.is(bytes(-1), "size not known");
  t.is(rate(350_000), "350 kB/s");
  t.deepEqual([12, 8_040, 90_000, 180_000, 7_200_000, 4 * 86_400_000].map(duration), [
    "12 ms",
    "8 s",
    "90 s",
    "3 min",
    "2 h",
    "4 d",
  ]);
  t.is(ago(NOW - 400, NOW), "0 s ago");
  t.is(ago(NOW + 400, NOW), "0 s ago");
  t.is(ago(NOW - 8_400, NOW), "8 s ago");
  t.regex(clock(NOW, NOW), /^\d\d:\d\d:\d\d$/);
  t.regex(clock(NOW - 3 * 86_400_000, NOW), /^19 Nov \d\d:\d\d:\d\d$/);
  t.is(clock(Number.NaN, NOW), "");
  t.regex(tick(NOW / 1000, 60), /^\d\d:\d\d:\d\d$/);
  t.regex(tick(NOW / 1000, 3_600), /^\d\d:\d\d$/);
  t.regex(tick(NOW / 1000, 7 * 86_400), /^\d+ Nov$/);
  t.is(counted(1, "device"), "1 device");
  t.is(counted(1_300, "device"), "1,300 devices");
  t.is(rounded(62.97960051219932), "62.9796");
});

test("moments, states of an update and what is no number are not drawn", (t) => {
  t.true(isDrawable("temperature", 21.5));
  t.true(isDrawable("counter", 1_700_000_000));
  t.true(isDrawable("heat", 1_700_000_000));
  t.false(isDrawable("bootTime", 1_700_000_000));
  t.false(isDrawable("last_seen.ts", 1_700_000_000));
  t.false(isDrawable("anything", NOW));
  t.false(isDrawable("fw_progress", 5));
  t.false(isDrawable("target_ts", NOW));
  for (const value of ["21", true, null, {}, Number.NaN]) t.false(isDrawable("a", value));
});

test("merges keys into rows by time within a range, late points included", (t) => {
  const [one, other] = [new Series(), new Series()];
  for (const [ts, value] of [
    [10, 1],
    [30, 3],
    [20, 2],
    [30, 33],
  ] as const)
    one.add(ts, value);
  for (const [ts, value] of [
    [20, 200],
    [25, 250],
    [90, 900],
  ] as const)
    other.add(ts, value);
  t.deepEqual(one.values, [1, 2, 33]);
  t.is(one.countIn(10, 30), 2);
  t.deepEqual(rowsOf([one, other], 10, 90), [
    [10, 1, undefined],
    [20, 2, 200],
    [25, undefined, 250],
    [30, 33, undefined],
  ]);
  for (let ts = 0; ts < MOST_POINTS + 10; ts++) other.add(1_000 + ts, ts);
  t.is(other.times.length, MOST_POINTS);
});

test("the device list follows its address; by default active devices come first", (t) => {
  const first = listOf(new URLSearchParams());
  t.deepEqual(first, { search: "", state: "all", sort: "state", descending: true, page: 0 });
  t.is(queryOf(first).toString(), "");
  const own = { search: "a&b", state: "inactive", sort: "seen", descending: false, page: 3 } as const;
  t.deepEqual(listOf(queryOf(own)), own);
  t.deepEqual(listOf(queryOf({ ...own, sort: "name", descending: true })), {
    ...own,
    sort: "name",
    descending: true,
  });
  t.deepEqual(listOf(new URLSearchParams("state=x&sort=constructor&page=-1")), first);
  t.like(platformQuery(first), {
    page: 0,
    sort: { key: { key: "active" }, direction: "DESC" },
    keyFilters: [],
  });
  const { keyFilters = [], sort } = platformQuery(own);
  t.is(sort?.direction, "ASC");
  t.deepEqual(
    keyFilters.map(({ key, predicate }) => [key.key, predicate.operation, predicate.value.defaultValue]),
    [
      ["name", "CONTAINS", "a&b"],
      ["active", "EQUAL", false],
    ],
  );
});

test("a device that was never heard of has no time, and an empty list says why", (t) => {
  const entityId = { entityType: "DEVICE", id: ID };
  const never = {
    ENTITY_FIELD: { name: { ts: 0, value: "a" } },
    SERVER_ATTRIBUTE: { lastActivityTime: { ts: 0, value: "" } },
  };
  t.like(listedDevice({ entityId, latest: never }), { name: "a", isActive: false, lastSeen: undefined });
  const live = {
    SERVER_ATTRIBUTE: { active: { ts: 1, value: "true" }, lastActivityTime: { ts: 1, value: "5" } },
  };
  t.like(listedDevice({ entityId, latest: live }), { name: "", isActive: true, lastSeen: 5 });
  t.is(emptyText({ search: "pump", state: "all" }), "No device has “pump” in its name.");
  t.is(emptyText({ search: "pump", state: "active" }), "No active device has “pump” in its name.");
  t.regex(emptyText({ search: "", state: "all" }), /npm start/);
  t.regex(emptyText({ search: "", state: "active" }), /ten minutes/);
});

test("fw_* attributes are guarded while an update runs, and only then", (t) => {
  for (const state of ["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"])
    t.regex(
      guardOf("shared", "fw_version", state) ?? "",
      new RegExp(`${stateName(state)}.*fw_version`),
      state,
    );
  for (const state of ["UPDATED", "FAILED", undefined, 5])
    t.is(guardOf("shared", "fw_version", state), undefined);
  t.is(guardOf("shared", "interval", "DOWNLOADING"), undefined);
  t.is(guardOf("server", "fw_version", "DOWNLOADING"), undefined);
});

// An update as a picture: its steps from what was reported, the rate of its download, and why it ended.

const SIZE = 1_000_000;
const T = 1_700_000_000_000;

/** `[seconds, state]`, `[seconds, percent]` or `["FAILED", error]` as the last. */
function history(
  states: readonly (readonly [number, string, string?])[],
  progress: readonly (readonly [number, number])[] = [],
): History {
  const at = (s: number): number => T + s * 1000;
  return {
    states: states.map(([s, value]): Reading => ({ ts: at(s), value })),
    errors: states.map(([s, , error = ""]): Reading => ({ ts: at(s), value: error })),
    progress: progress.map(([s, value]): Reading => ({ ts: at(s), value })),
  };
}
const picture = (of: History, seconds: number) => pictureOf(of, { size: SIZE, now: T + seconds * 1000 });
const states = (of: History, seconds = 100): string =>
  picture(of, seconds)
    .steps.map(({ state }) => state)
    .join(" ");

const ASSIGNED = [
  [0, "QUEUED"],
  [1, "INITIATED"],
] as const;
const DOWNLOADING = [...ASSIGNED, [10, "DOWNLOADING"]] as const;
const VERIFIED = [...DOWNLOADING, [30, "DOWNLOADED"], [31, "VERIFIED"]] as const;
const TRIAL = [...VERIFIED, [32, "UPDATING"]] as const;

test("each state has its step", (t) => {
  t.is(states(history([])), "ahead ahead ahead ahead ahead");
  t.is(states(history(ASSIGNED)), "done ahead ahead ahead ahead");
  t.is(states(history(DOWNLOADING)), "done now ahead ahead ahead");
  t.is(states(history([...DOWNLOADING, [30, "DOWNLOADED"]])), "done done now ahead ahead");
  t.is(states(history(VERIFIED)), "done done done ahead ahead");
  t.is(states(history(TRIAL)), "done done done now ahead");
  t.is(states(history([...TRIAL, [40, "UPDATED"]])), "done done done done done");
  t.is(
    states(
      history([
        [5, "nonsense"],
        [6, "<img>"],
      ]),
    ),
    "ahead ahead ahead ahead ahead",
  );
});

test("a download has its rate and the time that is left", (t) => {
  const going = history(DOWNLOADING, [
    [20, 10],
    [30, 20],
    [40, 40],
  ]);
  const { steps, progress } = picture(going, 41);
  t.is(progress, 40);
  t.is(steps[1]?.note, "40 %, 400 kB of 1 MB, 15 kB/s, 40 s left");
  // Nothing came for a minute: the rate is that of the last two reports.
  t.is(picture(going, 200).steps[1]?.note, "40 %, 400 kB of 1 MB, 20 kB/s, 30 s left");
  t.is(
    picture(history(DOWNLOADING, [[20, 10]]), 21).steps[1]?.note,
    "10 %, 100 kB of 1 MB, 10 kB/s, 90 s left",
  );
  t.is(picture(history(DOWNLOADING), 21).steps[1]?.note, "0 %, 0 bytes of 1 MB");
  t.is(pictureOf(going, { size: undefined, now: T + 41_000 }).steps[1]?.note, "40 %");
  // What was reported before this download began is of another.
  t.is(picture(history(DOWNLOADING, [[5, 90]]), 21).progress, 0);
  t.like(picture(history(VERIFIED), 60).steps[1], { title: "Downloaded", note: "1 MB in 20 s, 50 kB/s" });
});

test("distinguishes rolled-back from never-installed images, with the reason", (t) => {
  const error = `${FAILURES.notStarted.text} (task watchdog)`;
  const back = picture(history([...TRIAL, [40, "FAILED", error]]), 100);
  t.is(back.steps.map(({ state }) => state).join(" "), "done done done failed failed");
  t.like(back.steps[4], { title: "Rolled back", note: error, at: T + 40_000 });
  t.regex(back.summary, /rolled back to the previous image.*1 min, 10 min and 1 h/);

  const large = picture(history([...ASSIGNED, [5, "FAILED", FAILURES.slotSize.text]]), 100);
  t.is(large.steps.map(({ state }) => state).join(" "), "done failed ahead ahead failed");
  t.like(large.steps[4], { title: "Not installed", note: FAILURES.slotSize.text });
  t.regex(large.summary, /still running. The device does not retry until the package is assigned again/);

  const wrong = picture(history([...DOWNLOADING, [30, "FAILED", FAILURES.checksum.text]]), 100);
  t.is(wrong.steps.map(({ state }) => state).join(" "), "done done failed ahead failed");
  t.is(picture(history([...DOWNLOADING, [30, "FAILED"]]), 100).steps[4]?.note, "the device gave no reason");
});

test("shows the latest attempt and counts earlier failures", (t) => {
  const again = [
    ...DOWNLOADING,
    [20, "FAILED", "x"],
    [80, "DOWNLOADING"],
    [90, "FAILED", "x"],
    [200, "DOWNLOADING"],
  ] as const;
  const { steps, summary } = picture(history(again), 210);
  t.is(steps.map(({ state }) => state).join(" "), "done now ahead ahead ahead");
  t.is(steps[1]?.at, T + 200_000);
  t.is(steps[0]?.at, T);
  t.regex(summary, /It failed 2 times before/);
  // Another assignment begins from the start.
  t.is(states(history([...again, [300, "QUEUED"]])), "done ahead ahead ahead ahead");
  t.notRegex(picture(history([...again, [300, "QUEUED"]]), 310).summary, /failed/);
});

test("a fleet is counted by where each device stands", (t) => {
  const stage = (state?: string, more: { error?: string; running?: string; wanted?: string } = {}) =>
    stageOf({
      state,
      error: more.error,
      running: more.running,
      wanted: "wanted" in more ? more.wanted : "2",
    });
  t.is(stage(undefined, { wanted: undefined as unknown as string }), "none");
  t.is(stage("FAILED", { wanted: undefined as unknown as string }), "none");
  t.is(stage("QUEUED", { wanted: undefined as unknown as string }), "assigned");
  t.is(stage(undefined), "assigned");
  t.is(stage("INITIATED", { running: "1" }), "assigned");
  t.is(stage("INITIATED", { running: "2" }), "confirmed");
  t.is(stage("DOWNLOADING"), "downloading");
  t.is(stage("DOWNLOADED"), "verified");
  t.is(stage("VERIFIED"), "verified");
  t.is(stage("UPDATING"), "trial");
  t.is(stage("UPDATED"), "confirmed");
  t.is(stage("FAILED", { error: "wrong checksum" }), "failed");
  t.is(stage("FAILED", { error: "something of another agent" }), "failed");
  for (const name of [
    "notStarted",
    "notConfirmed",
    "interrupted",
    "notReached",
    "offline",
    "notKept",
    "selfTest",
    "misnamed",
  ] as const)
    t.is(stage("FAILED", { error: `${FAILURES[name].text} (more)` }), "rolledBack", name);
});

// The console's files and what guards them, without a browser.

let platform: Platform;

test.before(async () => {
  platform = await startPlatform({ port: 0 });
});
test.after.always(() => platform.close());

test("the console is under 80 KiB compressed", (t) => {
  const files = ["index.html", "console.js", "console.css"].map((name) =>
    readFileSync(builtFile(`tools/platform/console/${name}`)),
  );
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  t.log(`${bytes} bytes compressed`);
  t.true(bytes < 80 * 1024);
});

test("what is not this machine's own page or address can't drive the REST", async (t) => {
  const login = (headers: Record<string, string>) =>
    fetch(`${platform.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ username: "tenant@thingsboard.org", password: "tenant" }),
    });
  t.is((await login({})).status, 200);
  t.is((await login({ origin: platform.url })).status, 200);
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:1"])
    t.is((await login({ origin })).status, 403, origin);
  const page = await fetch(platform.url);
  t.regex(page.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/);
  t.is((await fetch(`${platform.url}/api/console/events`)).status, 401);
});

/** fetch sets the Host by itself. */
function statusAs(host: string, path: string, method: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { address } = platform;
    httpRequest({ ...address, path, method, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("a name elsewhere that was made to lead to this machine gets neither page nor REST", async (t) => {
  const { port } = platform.address;
  const calls = [
    ["GET", "/"],
    ["GET", "/console.js"],
    ["POST", "/api/auth/login"],
    ["GET", "/api/console/events"],
    ["GET", "/api/tenant/devices"],
    ["GET", "/no-such-path"],
  ] as const;
  const foreign = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "localhost.evil.example",
  ];
  for (const [method, path] of calls) {
    for (const host of foreign) t.is(await statusAs(host, path, method), 403, `${method} ${path} as ${host}`);
    for (const host of ["1.2.3.4@evil.example", "[::1].evil.example", "localhost:80:80"])
      t.is(await statusAs(host, path, method), 403, `${method} ${path} as ${host}`);
  }
  for (const host of [`127.0.0.1:${port}`, "localhost", `LOCALHOST:${port}`, `[::1]:${port}`, hostname()])
    t.is(await statusAs(host, "/", "GET"), 200, host);
});

test("shows moments as times and sizes with units, and every other value as it is", (t) => {
  t.regex(readable("bootTime", NOW, NOW), /^\d\d:\d\d:\d\d$/);
  t.regex(readable("lastActivityTime", NOW / 1000 - 3 * 86_400, NOW), /^19 Nov \d\d:\d\d:\d\d$/);
  t.is(readable("fw_size", 1_234_567, NOW), "1.23 MB");
  t.is(readable("moteLeastFree", 90_000, NOW), "90 kB");
  t.is(readable("batchSize", 12, NOW), "12");
  t.is(readable("temperature", 21.5, NOW), "21.5");
  t.is(readable("bootTime", "1795000000000", NOW), "1795000000000");
});

test("takes a unit from the attribute units, else from the end of the key", (t) => {
  const units = { temperature: "°C", rssi: "dB", long: "x".repeat(50), wrong: 5 };
  t.is(unitOf("temperature", units), "°C");
  t.is(unitOf("rssi", units), "dB");
  t.is(unitOf("rssi", undefined), "dBm");
  t.is(unitOf("batteryMv", {}), "mV");
  t.is(unitOf("long", units), "x".repeat(12));
  for (const key of ["wrong", "humidity", "constructor", "items"]) t.is(unitOf(key, units), "", key);
  for (const none of [null, "text", 5, []]) t.is(unitOf("temperature", none), "");
});

test("the last value is the newest measurement, not the state of an update or a moment", (t) => {
  t.is(lastValueOf({}), undefined);
  t.is(
    lastValueOf({ fw_state: { ts: 9, value: "UPDATED" }, current_fw_version: { ts: 9, value: "1" } }),
    undefined,
  );
  t.deepEqual(
    lastValueOf({
      ...{
        humidity: { ts: 5, value: 50 },
        temperature: { ts: 5, value: 21 },
        door: { ts: 4, value: "open" },
      },
      ...{ bootTime: { ts: 9, value: NOW }, fw_progress: { ts: 9, value: 40 } },
    }),
    { key: "humidity", ts: 5, value: 50 },
  );
});

test("folds attributes of Mote and the platform, but none that the operator sets", (t) => {
  for (const key of ["moteErrors", "moteQueueDepth"]) t.true(isDiagnostic("client", key), key);
  for (const key of ["active", "lastActivityTime", "moteRollout"]) t.true(isDiagnostic("server", key), key);
  t.false(isDiagnostic("shared", "moteLogLevel"));
  t.false(isDiagnostic("client", "active"));
  for (const key of ["serial", "motel", "mote"]) t.false(isDiagnostic("client", key), key);
});

test("names every state of an update as the fleet is counted", (t) => {
  const names = [
    "QUEUED",
    "INITIATED",
    "DOWNLOADING",
    "DOWNLOADED",
    "VERIFIED",
    "UPDATING",
    "UPDATED",
    "FAILED",
  ];
  t.deepEqual(
    names.map((name) => stateName(name)),
    [
      ...["Assigned", "Assigned", "Downloading", "Downloaded", "Verified"],
      ...["On trial", "Confirmed", "Failed"],
    ],
  );
  t.is(stateName("constructor"), "Constructor");
  t.is(stateWord("FAILED", "the new image did not start (task watchdog)"), "rolled back");
  t.is(stateWord("FAILED", "wrong checksum"), "failed");
  t.is(stateWord("PAUSED"), "PAUSED");
  t.is(stateName({ a: 1 }), '{"a":1}');
});

test("quotes the command that runs a device for a shell", (t) => {
  t.is(runCommand("http://a:1", "abc_1-2"), "MOTE_TOKEN=abc_1-2 npx mote-cli run --url http://a:1");
  t.is(runCommand("http://a:1", "a'b $c"), "MOTE_TOKEN='a'\\''b $c' npx mote-cli run --url http://a:1");
});
