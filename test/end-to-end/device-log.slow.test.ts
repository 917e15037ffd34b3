// The lines that `mote run` keeps, as its operator reads them by `mote logs NAME --device`: over
// kills, a torn file, and an image that logs what it must not.
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { asTenant, mote, type Result } from "../tools/cli/commands.js";
import { type Rig, startRig, until } from "./rig.js";
import { image, type Run, run } from "./run.js";
import { localPlatform } from "./server.js";

interface Shown {
  uptime: number;
  level: string;
  text: string;
}

const logs = (rig: Rig, ...more: string[]): Promise<Result> =>
  mote(["logs", rig.name, "--device", "--limit", "500", ...more], asTenant(rig.url));

async function lines(rig: Rig, ...more: string[]): Promise<Shown[]> {
  const { code, out, err } = await logs(rig, "--json", ...more);
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  const texts = out.split("\n").slice(0, -1);
  return texts.map((line) => JSON.parse(line));
}

/** Beside what all devices keep: a line a tenth of a second, with a number. */
const COUNTS = `let n = 0; setInterval(() => host.log("info", "line " + n++), 100);`;

async function online(device: Run): Promise<void> {
  await until(async () => device.seen("online").length > 0, "the device is online");
}

const numbersOf = (found: readonly Shown[]): number[] =>
  found.flatMap(({ text }) => (text.startsWith("line ") ? [Number(text.slice(5))] : []));

/** Whether each is one more than the one before, in each run. */
const isGapless = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number === 0 || number === numbers[at - 1]! + 1);

test.serial("an operator reads a device's lines, and is told if it does not answer", async (t) => {
  const rig = await startRig(t, localPlatform());
  const device = run(t, rig, image(rig, "1.0.0", ""));
  await online(device);
  t.deepEqual(
    (await lines(rig)).slice(0, 3).map(({ level, text }) => `${level}: ${text}`),
    ["info: start: start", `info: provisioned as ${rig.name}`, "info: online"],
  );
  t.is(await device.stop(), 0);
  const silent = await logs(rig);
  t.is(silent.code, 4);
  t.regex(silent.err, /the device did not answer/);
});

test.serial("keeps its lines over kills, and starts with a torn file", async (t) => {
  const seed = Number(process.env.MOTE_SEED ?? Date.now() % 100_000);
  t.log(`MOTE_SEED=${seed} replays the moments`);
  let random = seed;
  const rig = await startRig(t, localPlatform());
  const app = image(rig, "1.0.0", COUNTS);
  const file = join(rig.stateDir, "run", "log.bin");
  let device = run(t, rig, app);
  await online(device);
  for (let round = 0; round < 3; round++) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    await new Promise((resolve) => setTimeout(resolve, 500 + (random % 1000)));
    const before = numbersOf(await lines(rig)).at(-1) ?? -1;
    await device.kill();
    device = run(t, rig, app);
    await online(device);
    const found = await lines(rig);
    const texts = found.map(({ text }) => text);
    const at = texts.lastIndexOf("start: start");
    t.true(at > 0, texts.join("\n"));
    // What was read before the kill is there, and so is what came after it.
    const last = Number(texts[at - 1]?.slice(5));
    t.true(last >= before, `${last} after ${before}`);
    t.true(isGapless(numbersOf(found)), texts.join("\n"));
  }
  for (const tear of [() => truncateSync(file, 1000), () => writeFileSync(file, Buffer.alloc(4096, 0xa5))]) {
    await device.kill();
    tear();
    device = run(t, rig, app);
    await online(device);
    const found = await lines(rig);
    t.true(found.some(({ text }) => text === "online"));
    t.true(isGapless(numbersOf(found)), found.map(({ text }) => text).join("\n"));
  }
  t.is(await device.stop(), 0);
  t.is(readFileSync(file).length, 4096);
});
