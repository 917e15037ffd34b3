// The local platform's options on the command line, in processes of its own.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import test from "ava";
import { reachable } from "../../../tools/cli/commands/platform/network.js";
import { generator } from "../../../tools/platform/core/common/random.js";
import { SEED } from "../../sample.js";
import { jwtOf } from "../platform/rig.js";
import { platformFor } from "../platform-for.js";
import { scratch } from "../scratch.js";
import { interrupt, killAll, launch, mote, processOutput } from "./commands.js";

test.after.always(killAll);

const KEYS = { MOTE_PROVISION_KEY: "given-key", MOTE_PROVISION_SECRET: "given-secret" };

interface Running {
  child: ChildProcess;
  url: string;
  /** The line that says that it listens. */
  said: Record<string, unknown>;
}

async function run(args: string[], env: Record<string, string> = KEYS): Promise<Running> {
  const child = launch(["platform", "--port", "0", "--json", ...args], env);
  const eventLog = processOutput(child);
  await eventLog.until(({ events }) => events.length === 1);
  const said = eventLog.events[0] as unknown as Record<string, unknown>;
  return { child, url: String(said.url), said };
}

async function end(
  { child }: Pick<Running, "child">,
  signal: "SIGKILL" | "SIGTERM" = "SIGTERM",
): Promise<void> {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
}

async function provision(url: string, token: string): Promise<void> {
  const keys = { provisionDeviceKey: "given-key", provisionDeviceSecret: "given-secret" };
  const body = JSON.stringify({ deviceName: token, token, ...keys });
  await (await fetch(`${url}/api/v1/provision`, { method: "POST", body })).text();
}

test.serial("platform: its JSON line holds no secret, made up or given", async (t) => {
  for (const env of [{}, KEYS]) {
    const args = ["platform", "--no-state", "--port", "0", "--json"];
    const { code, out } = await interrupt(args, env, ({ out }) => out.includes("\n"), "SIGTERM");
    t.is(code, 0);
    const members = JSON.parse(out) as Record<string, unknown>;
    t.is(members.event, "listening");
    t.is(members.provisionSecret, null);
    t.deepEqual(
      Object.keys(members).filter((name) => /secret|password/i.test(name)),
      ["provisionSecret"],
    );
    t.notRegex(out, /given-/);
  }
  const { code, err } = await mote(["platform", "--no-state", "--port", "0", "--host", "0.0.0.0", "--json"]);
  t.is(code, 2);
  t.is(err, "error: --json prints no generated password: set --admin-password or MOTE_ADMIN_PASSWORD\n");
});

async function greetingOf(args: string[], env: Record<string, string> = {}): Promise<string> {
  const all = ["platform", "--no-state", "--port", "0", ...args];
  return (await interrupt(all, env, ({ out }) => out.includes("Ctrl-C"))).out;
}

test.serial("platform: exposed, it prints its addresses and disables the default passwords", async (t) => {
  const own = { MOTE_ADMIN_PASSWORD: "of-my-own" };
  const { child, url, said } = await run(["--no-state", "--host", "0.0.0.0"], own);
  t.deepEqual(said.urls ?? [], reachable(url, "0.0.0.0"));
  for (const name of ["tenant", "customer", "sysadmin"]) {
    t.is(await jwtOf({ url }, name), undefined);
    t.truthy(await jwtOf({ url }, name, "of-my-own"));
  }
  await end({ child });
  t.regex(await greetingOf(["--host", "0.0.0.0"]), /tenant@thingsboard\.org \/ [A-Za-z0-9]{16}\n/);
  const out = await greetingOf(["--host", "0.0.0.0"], own);
  t.regex(out, /tenant@thingsboard\.org \/ as given\n/);
  t.regex(out, /open to the network, so the default passwords are disabled/);
  t.notRegex(out, /of-my-own/);
  t.notRegex(await greetingOf([], own), /open to the network/);
});

const KILLS = 5;
/** Connections that write at the same time. */
const WRITERS = 4;

test.serial(`keeps every acknowledged point over ${KILLS} kills during writes`, async (t) => {
  t.timeout(600_000);
  t.log(`seed ${SEED}`);
  const random = generator(SEED);
  const state = scratch();
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
    const platform = await run(["--state", state]);
    if (kill === 0) await provision(platform.url, "device");
    const writers = Array.from({ length: WRITERS }, () => write(platform.url));
    const before = acknowledged.length;
    while (acknowledged.length < before + 5 + random(50))
      await new Promise((resolve) => setTimeout(resolve, random(20)));
    await end(platform, "SIGKILL");
    await Promise.all(writers);
  }
  const last = await platformFor(t, { state: { directory: state } });
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
});

const CLI = fileURLToPath(new URL("../../../tools/cli/cli.js", import.meta.url));
/** A file system of 400 KB in a name space of its own; what was on it is copied out at the end. */
const SMALL_DISK =
  'mount -t tmpfs -o size=400k tmpfs "$1" && "$3" "$4" platform --port 0 --json --state "$1/state"; code=$?; cp -r "$1/state/." "$2"; exit $code';
const onSmallDisk = spawnSync("unshare", ["-rm", "true"]).status === 0 ? test.serial : test.serial.skip;

onSmallDisk("a disk that is full stops it with a sentence, and what was acknowledged is there", async (t) => {
  t.timeout(240_000);
  const [disk, copy] = [scratch(), scratch()];
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
    /^error: the state in .+ can't be written: the disk is full; the platform stopped\. Data acknowledged before is stored\.\n$/,
  );
  t.true(acknowledged.length > 3 && acknowledged.length < 1_000);
  const last = await platformFor(t, { state: { directory: copy } });
  const series = last.core.devices.byToken("device")?.series;
  const points = series?.range("n", { startTs: 0, endTs: 1e9, limit: 1e6, ascending: true }) ?? [];
  t.log(`${acknowledged.length} points acknowledged, ${points.length} there`);
  const there = new Set(points.map(({ ts }) => ts));
  t.true(acknowledged.every((ts) => there.has(ts)));
});
