// `mote platform --state`: killed at any moment, nothing that it acknowledged is lost, and a device goes on by itself.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test, { type ExecutionContext } from "ava";
import { Operator } from "../../../tools/operator/operator.js";
import { generator } from "../../../tools/platform/core/common/random.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { SEED } from "../../sample.js";
import { killAll, launch, mote, processOutput } from "./commands.js";

const KEYS = { MOTE_PROVISION_KEY: "state-key", MOTE_PROVISION_SECRET: "state-secret" };
const KILLS = 20;
/** Connections that write at the same time. */
const WRITERS = 4;

test.after.always(killAll);

function folder(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), "mote-platform-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Running {
  child: ChildProcess;
  url: string;
}

async function run(state: string, port = 0): Promise<Running> {
  const child = launch(["platform", "--port", String(port), "--state", state, "--log", "json"], KEYS);
  const eventLog = processOutput(child);
  await eventLog.until(({ events }) => events.length === 1);
  return { child, url: String(eventLog.events[0]?.url) };
}

async function end({ child }: Running, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
}

async function provision(url: string, token: string): Promise<void> {
  const body = JSON.stringify({
    deviceName: token,
    token,
    provisionDeviceKey: KEYS.MOTE_PROVISION_KEY,
    provisionDeviceSecret: KEYS.MOTE_PROVISION_SECRET,
  });
  await (await fetch(`${url}/api/v1/provision`, { method: "POST", body })).text();
}

test.serial(
  `killed ${KILLS} times in the middle of writes: nothing that was acknowledged is lost`,
  async (t) => {
    t.timeout(600_000);
    t.log(`seed ${SEED}`);
    const random = generator(SEED);
    const state = folder(t);
    const acknowledged: number[] = [];
    let next = 0;
    const write = async (url: string): Promise<void> => {
      for (;;) {
        const ts = next++;
        const body = JSON.stringify({ ts, values: { n: ts } });
        try {
          const answer = await fetch(`${url}/api/v1/device/telemetry`, { method: "POST", body });
          await answer.arrayBuffer();
          if (answer.status === 200) acknowledged.push(ts);
          else t.fail(`status ${answer.status}`);
        } catch {
          return;
        }
      }
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const platform = await run(state);
      if (kill === 0) await provision(platform.url, "device");
      const writers = Array.from({ length: WRITERS }, () => write(platform.url));
      const before = acknowledged.length;
      while (acknowledged.length < before + 5 + random(50))
        await new Promise((resolve) => setTimeout(resolve, random(20)));
      await end(platform, "SIGKILL");
      await Promise.all(writers);
    }
    const last = await startPlatform({ port: 0, state: { directory: state } });
    t.teardown(() => last.close());
    const series = last.core.devices.byToken("device")?.series;
    const points = series?.range("n", { startTs: 0, endTs: 1e9, limit: 1e6, ascending: true }) ?? [];
    const there = new Set(points.map(({ ts }) => ts));
    t.log(`${acknowledged.length} points acknowledged, ${there.size} there`);
    t.deepEqual(
      acknowledged.filter((ts) => !there.has(ts)),
      [],
    );
    t.deepEqual(
      points.filter(({ ts, value }) => value !== BigInt(ts)),
      [],
    );
  },
);

test.serial(
  "a device goes on by itself over restarts of the platform, with its id, token and series",
  async (t) => {
    t.timeout(240_000);
    const [state, own, port] = [folder(t), folder(t), await freePort()];
    let platform = await run(state, port);
    const app = join(own, "app.mjs");
    writeFileSync(
      app,
      `export const firmware = { title: "lives-on", version: "1" };
    export default (agent) => { let n = 0; setInterval(() => agent.telemetry.record({ n: n++ }), 100); };`,
    );
    const args = ["run", "--url", platform.url, "--device-name", "lives-on", "--app", app];
    const device = launch([...args, "--state", join(own, "state")], KEYS);
    t.teardown(() => device.kill("SIGKILL"));
    const operator = new Operator({ url: platform.url });
    const find = async () => (await operator.devices.byName("lives-on"))!;
    const points = async (): Promise<number> => {
      const range = { keys: ["n"], startTs: 0, endTs: Date.now() + 1e6, limit: 100_000 };
      return (await operator.timeSeries.range((await find()).id.id, range)).n?.length ?? 0;
    };
    const until = async (most: number): Promise<number> => {
      for (;;) {
        const count = await points().catch(() => 0);
        if (count >= most) return count;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await operator.login("tenant@thingsboard.org", "tenant");
    let count = await until(5);
    const before = await find();
    const credentials = await operator.devices.credentials(before.id.id);
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await end(platform, signal);
      platform = await run(state, port);
      // The operator's session goes on as well.
      count = await until(count + 10);
      t.deepEqual((await find()).id, before.id);
      t.deepEqual(await operator.devices.credentials(before.id.id), credentials);
    }
    t.is((await operator.devices.list()).totalElements, 1, "it never made itself known again");
    await end(platform, "SIGTERM");
  },
);

test.serial("with a package of 1 MB and 100,000 points it starts within seconds", async (t) => {
  const state = folder(t);
  const made = await startPlatform({ port: 0, state: { directory: state } });
  const { core } = made;
  const profileId = core.profiles.default.id;
  const device = core.createDevice({ name: "d", profileId }, "device");
  for (let ts = 0; ts < 100_000; ts++) device.series.save("t", ts, ts / 2);
  const image = { type: "FIRMWARE", title: "a", version: "1", tag: undefined, url: undefined } as const;
  const file = { fileName: "a", contentType: "b", algorithm: "SHA256", checksum: undefined } as const;
  const target = core.packages.create({ ...image, profileId });
  core.packages.upload(target, { ...file, bytes: new Uint8Array(1_000_000).fill(7) });
  await made.close();
  const begun = performance.now();
  const platform = await run(state);
  const seconds = (performance.now() - begun) / 1000;
  t.log(`${seconds.toFixed(1)} s from the command to its address`);
  t.true(seconds < 10);
  await end(platform, "SIGKILL");
});

test.serial("a folder in use, and one that can't be, are reported in a sentence", async (t) => {
  const state = folder(t);
  const platform = await run(state);
  const { code, err } = await mote(["platform", "--port", "0", "--state", state]);
  t.is(code, 1);
  t.is(err, `error: ${state} is in use by process ${platform.child.pid}\n`);
  await end(platform, "SIGTERM");
  const wrong = await mote(["platform", "--port", "0", "--state", "/dev/null/state"]);
  t.is(wrong.code, 1);
  t.regex(wrong.err, /^error: no state can be kept in \/dev\/null\/state \(ENOTDIR\)\n$/);
});

test.serial("an empty database ends the command with exit code 8, and stays as it is", async (t) => {
  const state = folder(t);
  const file = join(state, "platform.db");
  writeFileSync(file, "");
  const { code, err } = await mote(["platform", "--port", "0", "--state", state]);
  t.is(code, 8);
  t.regex(err, /^error: platform\.db is damaged \(it has 0 bytes\): put a copy in its place, or move it/);
  t.deepEqual(readdirSync(state), ["platform.db"]);
  t.is(statSync(file).size, 0);
});

const CLI = fileURLToPath(new URL("../../../tools/cli/cli.js", import.meta.url));
/** A file system of 400 KB in a name space of its own; what was on it is copied out at the end. */
const SMALL_DISK =
  'mount -t tmpfs -o size=400k tmpfs "$1" && "$3" "$4" platform --port 0 --log json --state "$1/state"; code=$?; cp -r "$1/state/." "$2"; exit $code';
const onSmallDisk = spawnSync("unshare", ["-rm", "true"]).status === 0 ? test.serial : test.serial.skip;

onSmallDisk("a disk that is full stops it with a sentence, and what was acknowledged is there", async (t) => {
  t.timeout(240_000);
  const [disk, copy] = [folder(t), folder(t)];
  const script = ["-rm", "sh", "-c", SMALL_DISK, "sh", disk, copy, process.execPath, CLI];
  const env = { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...KEYS };
  const child = spawn("unshare", script, { env, stdio: ["ignore", "pipe", "pipe"] });
  t.teardown(() => child.kill("SIGKILL"));
  let complaint = "";
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  const closed = once(child, "close");
  const eventLog = processOutput(child);
  await eventLog.until(({ events }) => events.length === 1);
  const url = String(eventLog.events[0]?.url);
  await provision(url, "device");
  const acknowledged: number[] = [];
  for (let ts = 0; ts < 1_000; ts++) {
    const body = JSON.stringify({ ts, values: { n: ts, text: "x".repeat(3_000) } });
    const answer = await fetch(`${url}/api/v1/device/telemetry`, { method: "POST", body }).catch(
      () => undefined,
    );
    if (answer?.status !== 200) break;
    acknowledged.push(ts);
  }
  t.deepEqual(await closed, [1, null]);
  t.regex(
    complaint,
    /^error: the state in .+ can't be written: the disk is full; the platform stopped, what it answered before is kept\n$/,
  );
  t.true(acknowledged.length > 3 && acknowledged.length < 1_000);
  const last = await startPlatform({ port: 0, state: { directory: copy } });
  t.teardown(() => last.close());
  const series = last.core.devices.byToken("device")?.series;
  const points = series?.range("n", { startTs: 0, endTs: 1e9, limit: 1e6, ascending: true }) ?? [];
  t.log(`${acknowledged.length} points acknowledged, ${points.length} there`);
  t.deepEqual(
    points.map(({ ts }) => ts),
    acknowledged,
  );
});
