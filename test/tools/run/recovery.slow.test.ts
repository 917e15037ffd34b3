// An application that crashes again and again, in real worker processes against a local platform: the device stays within reach, and the fix arrives.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { configFor, image } from "./images.js";
import { type Session, session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));
const TOKEN = "token-of-a-test";
/** Late enough for it to be no matter of loading, and of a kind that names a place. */
const CRASHES_LATER = `setTimeout(() => { throw new RangeError("sensor token-of-a-test"); }, 20);`;

async function platformFor(t: { teardown(work: () => unknown): void }): Promise<Platform> {
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
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
  const target = core.packages.create({
    type: "FIRMWARE",
    title: "test",
    version,
    tag: undefined,
    url: undefined,
    profileId,
  });
  const file = { fileName: "app.mjs", contentType: "text/javascript", checksum: undefined };
  core.packages.upload(target, { ...file, bytes, algorithm: "SHA256" });
  core.updateDevice(device, { name, profileId, firmwareId: target.id });
}

const last = (platform: Platform, key: string): unknown =>
  platform.core.devices.byName("lamp")?.series.latest(key)?.value;

async function reached(look: () => boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!look()) {
    if (Date.now() > end) throw new Error(`not reached: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test.serial(
  "five crashes of a confirmed image: recovery mode, its cause is reported, and the fix arrives",
  async (t) => {
    const platform = await platformFor(t);
    const stateDir = temporaryState(t);
    const first = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
    await first.eventLog.until(({ events }) => events.some(({ event }) => event === "recovery"));
    t.deepEqual(first.eventLog.starts, Array(6).fill("1 confirmed"));
    const published = first.eventLog.events.find(({ event }) => event === "recovery");
    t.regex(String(published?.cause), /^RangeError: sensor \*\*\* \(at /);
    const device = platform.core.devices.byName("lamp");
    const attribute = () =>
      device?.attributes.list("CLIENT_SCOPE").find(([key]) => key === "moteRecovery")?.[1].value;
    await reached(() => /^RangeError/.test(String(attribute())));

    // Started again by whoever looks after it: it is in recovery mode still.
    await first.stop();
    const second = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
    await second.eventLog.until(({ events }) => events.some(({ event }) => event === "recovery"));
    t.is((await health(platform)).state, "online");

    assign(platform, "2", image("2", "setInterval(() => agent.telemetry.record({ fixed: 1 }), 100);"));
    await second.eventLog.until(({ starts }) => starts.includes("2 pending"));
    await reached(() => last(platform, "fw_state") === "UPDATED" && last(platform, "fixed") !== undefined);
    await reached(() => attribute() === "");
    t.is(await second.stop(), 0);
    t.deepEqual(second.eventLog.starts, ["1 confirmed", "2 pending"]);
  },
);

test.serial("without an application mote.health is answered, with why it started", async (t) => {
  const platform = await platformFor(t);
  const { stop } = start(t, temporaryState(t), platform.url);
  const { state, resets } = await health(platform);
  t.is(state, "online");
  t.deepEqual(resets, { start: 1 });
  t.is(await stop(), 0);
});

test.serial("five crashes while the store takes nothing: recovery mode all the same", async (t) => {
  const platform = await platformFor(t);
  const stateDir = temporaryState(t);
  // A file cannot take the place of a directory.
  mkdirSync(join(stateDir, "store", "recovery.bin"), { recursive: true });
  const { eventLog, stop } = start(t, stateDir, platform.url, image("1", CRASHES_LATER));
  await eventLog.until(({ events }) => events.some(({ event }) => event === "recovery"));
  t.deepEqual(eventLog.starts, Array(6).fill("1 confirmed"));
  t.true(eventLog.events.some(({ line }) => line === 'stored value "recovery" could not be written'));
  t.is(await stop(), 0);
});
