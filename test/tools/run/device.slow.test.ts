// An application that crashes again and again, in real worker processes against a local platform:
// the device stays within reach, and the fix arrives.

import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { listen } from "../../fakes/listen.js";
import { unless } from "../../unless.js";
import { end, killAll, launch, processOutput } from "../cli/commands.js";
import { addPackage } from "../platform/rig.js";
import { platformFor } from "../platform-for.js";
import { scratch } from "../scratch.js";
import { until } from "../until.js";
import { configFor, image } from "./images.js";
import { type Session, session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));
const TOKEN = "token-of-a-test";
/** Late enough for it to be no matter of loading, and of a kind that names a place. */
const CRASHES_LATER = `setTimeout(() => { throw new RangeError("sensor token-of-a-test"); }, 20);`;

async function platformOfLamp(t: { teardown(work: () => unknown): void }): Promise<Platform> {
  const platform = await platformFor(t);
  platform.core.createDevice({ name: "lamp", profileId: platform.core.profiles.default.id }, TOKEN);
  return platform;
}

function start(
  t: { teardown(work: () => unknown): void },
  stateDir: string,
  url: string,
  app?: Buffer,
): Session {
  const config = { ...configFor(stateDir), url };
  return session(t, stateDir, app, { config, worker: WORKER });
}

/** What the device answers to `mote.health`. */
function health(platform: Platform): Promise<Record<string, unknown>> {
  const device = platform.core.devices.byName("lamp");
  return new Promise((resolve, reject) => {
    const result = (outcome: { kind: string; text?: string }) =>
      outcome.kind === "answer" ? resolve(JSON.parse(outcome.text ?? "")) : reject(new Error(outcome.kind));
    const expiresAt = Date.now() + 60_000;
    device?.rpc.send({ method: "mote.health", params: "null", oneWay: false, expiresAt, result });
  });
}

/** Assigns `bytes` as version `version` of "test". */
function assign(platform: Platform, version: string, bytes: Buffer): void {
  const { core } = platform;
  const device = core.devices.byName("lamp");
  if (!device) throw new Error("no device");
  const { name, profileId } = device;
  const target = addPackage(core, { title: "test", version }, bytes);
  core.updateDevice(device, { name, profileId, firmwareId: target.id });
}

const last = (platform: Platform, key: string): unknown =>
  platform.core.devices.byName("lamp")?.series.latest(key)?.value;

test.serial("after five crashes recovery mode reports the cause and takes the fix", async (t) => {
  const platform = await platformOfLamp(t);
  const stateDir = temporaryState(t);
  const first = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
  const { cause } = await first.eventLog.first("recovery");
  t.regex(String(cause), /^RangeError: sensor \*\*\* \(at /);
  t.deepEqual(first.eventLog.starts, Array(6).fill("1 confirmed"));
  const device = platform.core.devices.byName("lamp");
  const attribute = () =>
    device?.attributes.list("CLIENT_SCOPE").find(([key]) => key === "moteRecovery")?.[1].value;
  await first.eventLog.until(() => /^RangeError/.test(String(attribute())));

  // Started again by whoever looks after it: it is in recovery mode still.
  await first.stop();
  const second = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
  await second.eventLog.first("recovery");
  t.is((await health(platform)).state, "online");

  assign(platform, "2", image("2", "setInterval(() => agent.telemetry.record({ fixed: 1 }), 100);"));
  await second.eventLog.until(({ starts }) => starts.includes("2 pending"));
  await second.eventLog.until(
    () => last(platform, "fw_state") === "UPDATED" && last(platform, "fixed") !== undefined,
  );
  await second.eventLog.until(() => attribute() === "");
  t.is(await second.stop(), 0);
  t.deepEqual(second.eventLog.starts, ["1 confirmed", "2 pending"]);
});

test.serial(
  "after a rollback, recovery mode of an image that crashes while it loads takes the fix",
  async (t) => {
    const platform = await platformOfLamp(t);
    const stateDir = temporaryState(t);
    const fs = `process.getBuiltinModule("node:fs")`;
    const broken = JSON.stringify(join(stateDir, "broken"));
    const first = `if (${fs}.existsSync(${broken})) throw new Error("broken data");\n${image("1")}`;
    const { eventLog, stop } = start(t, stateDir, platform.url, Buffer.from(first));
    await eventLog.first("online");
    assign(platform, "2", image("2", `${fs}.writeFileSync(${broken}, ""); process.exit(1);`));
    await eventLog.first("recovery", 40_000);
    t.is(eventLog.starts.at(-1), "1 confirmed");
    assign(platform, "3", image("3", "setInterval(() => {}, 1000);"));
    await eventLog.until(() => last(platform, "fw_state") === "UPDATED", 40_000);
    t.is(await stop(), 0);
  },
);

/** A module that lets a process fail to store whether its program crashed. */
function failingStore(folder: string): string {
  const path = join(folder, "failing-store.mjs");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path,
    `import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { renameSync } = fs;
    fs.renameSync = (from, to) => {
      if (String(to).endsWith("recovery.bin")) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      renameSync(from, to);
    };
    syncBuiltinESMExports();`,
  );
  return path;
}

test.serial("five crashes while the store takes nothing: recovery mode all the same", async (t) => {
  const platform = await platformOfLamp(t);
  const stateDir = temporaryState(t);
  const { NODE_OPTIONS = "" } = process.env;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS} --import=${pathToFileURL(failingStore(stateDir))}`;
  t.teardown(() => {
    process.env.NODE_OPTIONS = NODE_OPTIONS;
  });
  const { eventLog, stop } = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
  await eventLog.first("recovery");
  t.deepEqual(eventLog.starts, Array(6).fill("1 confirmed"));
  t.true(eventLog.events.some(({ line }) => line === 'could not store the value "recovery"'));
  t.is(await stop(), 0);
});

const place = scratch();
const RESET_TOKEN = "token-of-the-owner";
test.after.always(killAll);

test.serial("mote.reset forgets what is stored and starts again with the settings of now", async (t) => {
  const platform = await platformFor(t);
  const { core } = platform;
  const device = core.createDevice({ name: "lamp", profileId: core.profiles.default.id }, RESET_TOKEN);
  const args = ["run", "--url", platform.url, "--state", join(place, "reset"), "--json"];
  const child = launch(args, { MOTE_TOKEN: RESET_TOKEN });
  const eventLog = processOutput(child);
  await eventLog.first("online");
  const expiresAt = Date.now() + 30_000;
  device.rpc.send({ method: "mote.reset", params: '{"confirm":true}', oneWay: false, expiresAt });
  await eventLog.until(() => eventLog.named("online").length === 2);
  t.is(eventLog.named("started").length, 2);
  t.is(await end(child), 0);
});

// A program that prints the token which its device got by provisioning, in real worker processes
// against a local platform.

/** Reads the token's file, prints the token in each form, then crashes with it. */
const printsTokenOf = (stateDir: string): string => `
  const { existsSync, readFileSync } = process.getBuiltinModule("node:fs");
  const file = ${JSON.stringify(join(stateDir, "store", "token.bin"))};
  const look = setInterval(() => {
    if (!existsSync(file)) return;
    clearInterval(look);
    const kept = readFileSync(file);
    const { token } = JSON.parse(new TextDecoder().decode(kept.subarray(9)));
    console.log("plain", token);
    console.log("percent", encodeURIComponent(JSON.stringify({ token })));
    console.log("json", JSON.stringify(JSON.stringify({ token })));
    console.error("long", "x".repeat(1980) + token);
    host.conceal("a secret of the program"); console.log("named: a secret of the program");
    for (let n = 100; n < 400; n++) {
      host.conceal("secret of the program " + n);
      console.log("soon: secret of the program " + n);
    }
    host.log("info", "by the log " + token);
    setTimeout(() => { throw new Error("crashed with " + token); }, 500);
  }, 5);`;

test("mote run shows a provisioned token in no form, nor what a program names a secret", async (t) => {
  const platform = await platformFor(t);
  const { provisionKey, provisionSecret } = platform.core.profiles.create({
    name: "lamps",
    strategy: "ALLOW_CREATE_NEW_DEVICES",
    provisionKey: "key-of-the-lamps",
    provisionSecret: "secret-of-the-lamps",
  });
  const stateDir = temporaryState(t);
  const { token: _, ...config } = configFor(stateDir);
  const provisioning = { key: provisionKey!, secret: provisionSecret!, deviceName: "lamp" };
  const { eventLog, stop } = session(t, stateDir, image("1", printsTokenOf(stateDir)), {
    config: { ...config, url: platform.url, provisioning },
    worker: WORKER,
  });
  await eventLog.until(() => eventLog.named("crash").length > 1);
  await stop();
  const token = platform.core.devices.byName("lamp")!.credentials.credentialsId;
  const shown = JSON.stringify(eventLog.events);
  const kept = readFileSync(join(stateDir, "log.bin"), "latin1");
  for (const form of [token.slice(0, 8), token.slice(-8), "secret of the program"])
    t.false((shown + kept).includes(form), form);
  t.true(shown.includes("soon: ***"));
  t.true(kept.includes("by the log ***") && kept.includes("crashed with ***"));
});

test("mote run --cycle reports each wake and connects in every n-th", async (t) => {
  const state = scratch();
  const platform = await startPlatform({ port: 0, profile: { key: "KEY", secret: "SECRET" } });
  t.teardown(async () => {
    await platform.close();
  });
  const child = launch(
    ["run", "--url", platform.url, "--state", state, "--interval", "1s", "--cycle", "2", "--json"],
    { MOTE_PROVISION_KEY: "KEY", MOTE_PROVISION_SECRET: "SECRET" },
  );
  const eventLog = processOutput(child);
  const wakes = () => eventLog.named("wake");
  await eventLog.until(() => wakes().filter(({ reason }) => reason === "schedule").length >= 2);
  t.is(wakes()[0]?.reason, "start");
  t.true(wakes().some(({ reason }) => reason === "none"));
  t.true(wakes().every((wake) => !JSON.stringify(wake).includes("format")));
  await end(child);
});

const RUN = fileURLToPath(new URL("./stub-run.js", import.meta.url));
const LOGS = `setInterval(() => { for (let n = 0; n < 500; n++) console.log("x".repeat(400)); }, 10);`;
const MB = 1024;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** In kilobytes, as Linux counts them. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

const linuxTest = process.platform === "linux" ? test.serial : test.serial.skip;

linuxTest("the memory of a run whose output nobody reads stays as it is", async (t) => {
  const stateDir = temporaryState(t);
  const app = join(stateDir, "app.mjs");
  writeFileSync(app, image("1", LOGS));
  const child = spawn(process.execPath, [...process.execArgv, RUN, stateDir, app], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  await pause(5000);
  const before = memoryOf(child.pid ?? 0);
  await pause(10_000);
  const grown = memoryOf(child.pid ?? 0) - before;
  t.log(`${Math.round(grown / MB)} MB more after 10 s`);
  t.true(grown < 60 * MB, `${grown} kB`);
  let text = "";
  child.stdout.on("data", (piece) => {
    text += piece;
  });
  await until(() => /\d+ lines were left out: nobody read the output in time/.test(text));
  await end(child);
});

// A package that lies on a file server, over real sockets and in real worker processes: the process
// started afterwards is the new image.

const RANGE = /^bytes=(\d+)-(\d+)$/;

/**
 * Serves one file by ranges, behind a redirect, and hangs up once in the middle. Returns its
 * address and what it was asked.
 */
async function fileServer(
  t: { teardown(work: () => unknown): void },
  bytes: Buffer,
): Promise<{ authority: string; seen: string[] }> {
  const seen: string[] = [];
  let hangsUp = true;
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
    if (request.url === "/latest") {
      response.writeHead(302, { Location: "files/2.mjs?key=s3cret" }).end();
      return;
    }
    const [, from = 0, to = bytes.length] = (RANGE.exec(request.headers.range ?? "") ?? []).map(Number);
    const part = bytes.subarray(from, to + 1);
    response.writeHead(206, {
      ETag: '"1"',
      "Content-Range": `bytes ${from}-${to}/${bytes.length}`,
      "Content-Length": part.length,
    });
    if (!hangsUp || part.length < 1000) return void response.end(part);
    hangsUp = false;
    response.write(part.subarray(0, part.length >> 1), () => response.destroy());
  });
  t.teardown(() => server.closeAllConnections());
  return { authority: `127.0.0.1:${await listen(server, t)}`, seen };
}

test.serial("follows a redirect to a file server, and sends the token to neither", async (t) => {
  const next = image(
    "2",
    `agent.telemetry.record({ fixed: 1 }); setInterval(() => {}, 1000); // ${"x".repeat(60_000)}`,
  );
  const { authority, seen } = await fileServer(t, next);
  const platform = await platformOfLamp(t);
  const { core } = platform;
  const device = core.devices.byName("lamp")!;
  const app = image("1", "setInterval(() => {}, 1000);").toString();
  const listed = app.replace('version: "1"', `version: "1", urlHosts: ["${authority}"]`);
  const stateDir = temporaryState(t);
  const config = { ...configFor(stateDir), url: platform.url };
  const { eventLog, stop } = session(t, stateDir, Buffer.from(listed), { config, worker: WORKER });
  await eventLog.first("online");
  const made = addPackage(core, { title: "test", version: "2", url: `http://${authority}/latest` });
  Object.assign(made, { checksum: createHash("sha256").update(next).digest("hex"), algorithm: "SHA256" });
  core.updateDevice(device, { name: device.name, profileId: device.profileId, firmwareId: made.id });
  await eventLog.until(
    () =>
      device.series.latest("fixed") !== undefined && device.series.latest("fw_state")?.value === "UPDATED",
  );
  t.is(await stop(), 0);
  t.deepEqual(eventLog.starts, ["1 confirmed", "2 pending"]);
  t.is(device.series.latest("fw_state")?.value, "UPDATED");
  t.true(seen.length >= 4);
  t.false(seen.join().includes(TOKEN));
  t.false(JSON.stringify(eventLog.events).includes("s3cret"));
});

// A device as a service: what arrives on systemd's socket, and what systemd's own tools say of the
// unit. Without them, and Python for the socket, skipped.

const run = promisify(execFile);
const missing = ["systemd-notify", "systemd-analyze", "python3"].find((name) => {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
});
const withTools = unless(test, missing && `no ${missing} here`);
/** Prints what comes, a line each. */
const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("open", flush=True)
while True:
    data, _, _, _ = s.recvmsg(4096, 1024)
    print(data.decode().replace("\\n", " "), flush=True)
`;

withTools("systemd hears that it is ready, that it lives, how it does, and that it ends", async (t) => {
  const platform = await startPlatform({
    port: 0,
    profile: { key: "service-key", secret: "service-secret" },
  });
  const socket = join(place, "notify");
  const listener = spawn("python3", ["-c", LISTENER, socket], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(async () => {
    listener.kill();
    await platform.close();
  });
  const heard: string[] = [];
  const lines = createInterface(listener.stdout);
  await once(lines, "line");
  lines.on("line", (line) => heard.push(line.replace(/ ?BARRIER=1/, "")));
  const child = launch(["run", "--url", platform.url, "--state", join(place, "state"), "--json"], {
    ...{ MOTE_PROVISION_KEY: "service-key", MOTE_PROVISION_SECRET: "service-secret" },
    // Four times in it: each second.
    ...{ NOTIFY_SOCKET: socket, WATCHDOG_USEC: "4000000" },
  });
  await processOutput(child).first("telemetry.delivered");
  await until(() => heard.some((line) => line.includes("WATCHDOG=1")));
  await end(child);
  const said = heard.filter((line) => line !== "");
  t.regex(said[0] ?? "", /^READY=1 STATUS=started /);
  t.true(said.includes("WATCHDOG=1 STATUS=online"), said.join("\n"));
  t.is(said.at(-1), "STOPPING=1");
  t.notRegex(said.join(), /service-secret/);
});

withTools("the unit is sound, and exposes little", async (t) => {
  const unit = join(place, "mote@greenhouse-7.service");
  const text = readFileSync("tools/systemd/mote@.service", "utf8");
  // The command need not be installed here.
  writeFileSync(unit, text.replace("ExecStart=mote-cli", `ExecStart=${process.execPath}`));
  const { stderr } = await run("systemd-analyze", ["verify", unit]);
  t.notRegex(stderr, /mote@/);
  const { stdout } = await run("systemd-analyze", ["security", "--offline=true", unit]);
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
  t.true(exposure <= 2, `${exposure}`);
});
