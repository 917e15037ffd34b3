// The models of the console's pages, and its files, without a browser.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import test from "ava";
import { type Noted, rolloutsOf } from "../../../tools/console/model/rollouts.js";
import { ON_TRIAL, type Stage, stageOf, stateName, stateWord } from "../../../tools/operator/update-state.js";
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
  for (const name of ON_TRIAL) {
    t.is(stage("FAILED", { error: `${name} (more)` }), "rolledBack", name);
    t.is(stage("FAILED", { error: name }), "rolledBack", name);
  }
  t.is(stateName("constructor"), "Constructor");
  t.is(stateWord("FAILED", "not confirmed (task watchdog)"), "rolled back");
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
    ["GET", "/api/tenant/devices"],
    ["GET", "/no-such-path"],
  ] as const)
    for (const headers of foreign)
      t.is(await statusAs(method, path, headers), 403, `${method} ${path} ${JSON.stringify(headers)}`);
  for (const host of [own, "localhost", `LOCALHOST:${port}`, `[::1]:${port}`, hostname()])
    t.is(await statusAs("GET", "/", { host, origin: `http://${host}` }), 200, host);
  const policy = (await fetch(url)).headers.get("content-security-policy") ?? "";
  t.regex(policy, /default-src 'none'.*frame-ancestors 'none'/);
});
