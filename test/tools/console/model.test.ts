// The models of the console's pages, and its files, without a browser.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import test from "ava";
import { FAILURES } from "../../../src/agent/firmware/failures.js";
import { runCommand } from "../../../tools/console/model/access.js";
import { lastValueOf, listOf, queryOf } from "../../../tools/console/model/device-list.js";
import { isDiagnostic, isPlatforms } from "../../../tools/console/model/diagnostic.js";
import { bytes, counted, readable, rounded, tick, unitOf } from "../../../tools/console/model/format.js";
import { guardOf } from "../../../tools/console/model/guard.js";
import { otherBytes } from "../../../tools/console/model/image.js";
import { rowsOf as logRows } from "../../../tools/console/model/log-rows.js";
import { type Noted, rolloutsOf } from "../../../tools/console/model/rollouts.js";
import { MOST_POINTS, rowsOf, Series } from "../../../tools/console/model/series.js";
import { ago, duration } from "../../../tools/duration.js";
import { type Stage, stageOf, stateName, stateWord } from "../../../tools/operator/update-state.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { builtFile } from "../../../tools/project.js";
import { rawRequest } from "../raw-http.js";

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

const NOW = Date.UTC(2026, 10, 22, 12);

test("numbers, sizes, durations and moments are shown with the unit that fits", (t) => {
  t.deepEqual([0, 1, 1_234, 999_999, 2_500_000_000_000, -1, undefined].map(bytes), [
    ...["0 bytes", "1 byte", "1.23 kB", "1 MB", "2,500 GB"],
    ...["size not known", "size not known"],
  ]);
  t.deepEqual([12, 8_040, 90_000, 180_000, 7_200_000, 4 * 86_400_000].map(duration), [
    ...["12 ms", "8 s", "90 s", "3 min", "2 h", "4 d"],
  ]);
  t.is(ago(NOW + 400, NOW), "0 s ago");
  t.is(ago(NOW - 8_400, NOW), "8 s ago");
  t.regex(tick(NOW / 1000, 60), /^\d\d:\d\d:\d\d$/);
  t.regex(tick(NOW / 1000, 7 * 86_400), /^\d+ Nov$/);
  t.is(counted(1_300, "device"), "1,300 devices");
  t.is(rounded(62.97960051219932), "62.9796");
  t.regex(readable("bootTime", NOW, NOW), /^\d\d:\d\d:\d\d$/);
  t.regex(readable("lastActivityTime", NOW / 1000 - 3 * 86_400, NOW), /^19 Nov \d\d:\d\d:\d\d$/);
  t.is(readable("moteLeastFree", 90_000, NOW), "90 kB");
  t.is(readable("batchSize", 12, NOW), "12");
  t.is(readable("bootTime", "1795000000000", NOW), "1795000000000");
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

test("the address holds the state of the device list, and invalid values are the defaults", (t) => {
  const first = listOf(new URLSearchParams());
  t.deepEqual(first, { search: "", state: "all", sort: "state", descending: true, page: 0 });
  t.deepEqual(listOf(new URLSearchParams("state=x&sort=constructor&page=-1")), first);
  for (const own of [
    { search: "a&b", state: "inactive", sort: "seen", descending: false, page: 3 },
    { search: "", state: "active", sort: "name", descending: true, page: 0 },
  ] as const)
    t.deepEqual(listOf(queryOf(own)), own);
});

test("fw_* attributes are guarded while an update runs, and only then", (t) => {
  for (const state of ["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"])
    t.regex(guardOf("shared", "fw_version", state) ?? "", /fw_version/, state);
  for (const state of ["UPDATED", "FAILED", undefined, 5])
    t.is(guardOf("shared", "fw_version", state), undefined);
  t.is(guardOf("shared", "interval", "DOWNLOADING"), undefined);
  t.is(guardOf("server", "fw_version", "DOWNLOADING"), undefined);
});

test("the fleet's counts and an update's words follow its state, error and running version", (t) => {
  let checksums: { runningChecksum?: string | undefined; wantedChecksum?: string } = {};
  const stage = (state?: string, more: { error?: string; running?: string; wanted?: string } = {}) =>
    stageOf({
      state,
      error: more.error,
      running: more.running,
      wanted: "wanted" in more ? more.wanted : "2",
      ...checksums,
    });
  const unassigned = { wanted: undefined as unknown as string };
  t.is(stage("FAILED", unassigned), "none");
  t.is(stage("QUEUED", unassigned), "assigned");
  t.is(stage("INITIATED", { running: "1" }), "assigned");
  t.is(stage("INITIATED", { running: "2" }), "confirmed");
  for (const runningChecksum of ["c1", undefined]) {
    checksums = { runningChecksum, wantedChecksum: "c2" };
    t.is(stage("UPDATED", { running: "2" }), runningChecksum ? "assigned" : "unverified");
    t.is(stage("UPDATED", { running: "1" }), "assigned");
    t.is(stage("INITIATED", { running: "2" }), "assigned");
  }
  checksums = { runningChecksum: "C2", wantedChecksum: "c2" };
  t.is(stage("UPDATED", { running: "2" }), "confirmed");
  checksums = {};
  t.is(stage("FAILED", { error: "something of another agent" }), "failed");
  for (const [state, expected, name] of [
    [undefined, "assigned"],
    ["DOWNLOADING", "downloading", "Downloading"],
    ["DOWNLOADED", "verified", "Downloaded"],
    ["VERIFIED", "verified", "Verified"],
    ["UPDATING", "trial", "On trial"],
    ["UPDATED", "confirmed", "Confirmed"],
  ] as const) {
    t.is(stage(state), expected);
    if (name) t.is(stateName(state), name);
  }
  for (const name of [
    ...(["notStarted", "notConfirmed", "interrupted", "notReached"] as const),
    ...(["offline", "notKept", "selfTest", "misnamed"] as const),
  ])
    t.is(stage("FAILED", { error: `${FAILURES[name].text} (more)` }), "rolledBack", name);
  t.is(stateName("constructor"), "Constructor");
  t.is(stateWord("FAILED", "the new image did not start (task watchdog)"), "rolled back");
  t.is(stateWord("FAILED", "wrong checksum"), "failed");
  t.is(stateWord("PAUSED"), "PAUSED");
});

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

test("a name or page elsewhere that leads to this machine gets neither page nor REST", async (t) => {
  const { address, url } = platform;
  const { port } = address;
  const own = `127.0.0.1:${port}`;
  const statusAs = async (method: string, path: string, headers: Record<string, string>) =>
    (await rawRequest({ ...address, method, path, headers: { host: own, ...headers } })).status;
  const foreign = [
    ...[`evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example"].map((host) => ({ host })),
    ...["1.2.3.4@evil.example", "[::1].evil.example", "localhost:80:80"].map((host) => ({ host })),
    ...["http://evil.example", "null", "https://127.0.0.1:1"].map((origin) => ({ origin })),
  ];
  for (const [method, path] of [
    ["GET", "/"],
    ["GET", "/console.js"],
    ["POST", "/api/auth/login"],
    ["GET", "/api/console/events"],
    ["GET", "/api/tenant/devices"],
    ["GET", "/no-such-path"],
  ] as const)
    for (const headers of foreign)
      t.is(await statusAs(method, path, headers), 403, `${method} ${path} ${JSON.stringify(headers)}`);
  for (const host of [own, "localhost", `LOCALHOST:${port}`, `[::1]:${port}`, hostname()])
    t.is(await statusAs("GET", "/", { host, origin: `http://${host}` }), 200, host);
  const policy = (await fetch(url)).headers.get("content-security-policy") ?? "";
  t.regex(policy, /default-src 'none'.*frame-ancestors 'none'/);
  t.is((await fetch(`${url}/api/console/events`)).status, 401);
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

test("quotes the command that runs a device for a shell", (t) => {
  t.is(runCommand("http://a:1", "abc_1-2"), "MOTE_TOKEN=abc_1-2 npx mote-cli run --url http://a:1");
  t.is(runCommand("http://a:1", "a'b $c"), "MOTE_TOKEN='a'\\''b $c' npx mote-cli run --url http://a:1");
});

test("folds attributes of Mote and the platform, but none that the operator sets", (t) => {
  for (const key of ["moteErrors", "moteQueueDepth"]) t.true(isDiagnostic("client", key), key);
  for (const key of ["active", "lastActivityTime", "moteRollout"]) t.true(isDiagnostic("server", key), key);
  t.false(isDiagnostic("shared", "moteErrors"));
  t.false(isDiagnostic("client", "active"));
  for (const key of ["serial", "motel", "mote"]) t.false(isDiagnostic("client", key), key);
});

test("log lines have the time of day; those of an earlier run only their uptime", (t) => {
  const now = new Date(2026, 0, 31, 12, 0, 0).getTime();
  const lines: [number, string, string][] = [
    [100, "warn", "of the run before"],
    [1, "info", "started"],
    [58, "info", "online"],
  ];
  t.deepEqual(
    logRows({ build: null, uptime: 60, lines }, now).map(({ cells }) => cells[0]),
    ["11:59:58", "11:59:01", "earlier, 100 s up"],
  );
});

test("same title and version with other bytes is told by the checksum", (t) => {
  const one = {
    id: { entityType: "OTA_PACKAGE", id: "p" },
    title: "pump",
    version: "2.0.0",
    type: "FIRMWARE",
  } as const;
  const assigned = { ...one, checksum: "AABBCCDDEEFF0011" };
  const runs = (checksum: string, version = "2.0.0") => ({ title: "pump", version, checksum });
  t.is(otherBytes(runs("aabbccddeeff0011"), assigned), "");
  t.regex(
    otherBytes(runs("1234567890abcdef"), assigned),
    /other bytes .*checksum 1234567890ab…, not AABBCCDDEEFF…/,
  );
  t.regex(otherBytes(runs(""), assigned), /knows no checksum/);
  t.is(otherBytes(runs("1234567890abcdef", "1.0.0"), assigned), "");
  t.is(otherBytes(runs("1234567890abcdef"), undefined), "");
});

test("attributes that the platform sets are not edited; a signature is", (t) => {
  for (const [scope, key] of [
    ["shared", "fw_checksum"],
    ["shared", "sw_url"],
    ["server", "active"],
  ] as const)
    t.true(isPlatforms(scope, key), key);
  for (const [scope, key] of [
    ["shared", "fw_signature"],
    ["shared", "interval"],
    ["server", "units"],
  ] as const)
    t.false(isPlatforms(scope, key), key);
});
