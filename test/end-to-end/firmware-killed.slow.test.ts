// An update by `mote run` while supervisor and worker are killed at random moments: the process
// that runs in the end is the new image. `npx ava --timeout 20m
// test/end-to-end/firmware-killed.slow.test.ts -- --kills 20` plays twenty rounds.
import test from "ava";
import { argument } from "../arguments.js";
import { largeImage, MIB, release } from "./firmware-large.js";
import { latest, startRig, until } from "./rig.js";
import { image, type Run, run } from "./run.js";
import { localPlatform } from "./server.js";

const ROUNDS = Number(argument("kills") ?? 3);
const KILLS = 3;
const WITHIN_MS = 2500;
const POINTS = (version: string) =>
  `setInterval(() => agent.telemetry.record({ running: "image ${version}", pid: process.pid }), 200);`;

test.serial(`${ROUNDS} updates under SIGKILLs of supervisor and worker end with the new image`, async (t) => {
  t.timeout(ROUNDS * 120_000);
  const seed = Number(process.env.MOTE_SEED ?? Date.now() % 100_000);
  t.log(`MOTE_SEED=${seed} replays the moments`);
  let random = seed;
  const moments: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const rig = await startRig(t, localPlatform());
    const app = image(rig, "1.0.0", POINTS("1.0.0"));
    const start = (): Run => run(t, rig, app, ["--connections", "3"]);
    let device = start();
    const id = await rig.deviceId();
    await release(rig, "2.0.0", largeImage(rig, "2.0.0", MIB / 2, POINTS("2.0.0")));
    for (let kill = 0; kill < KILLS; kill++) {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      moments.push(random % WITHIN_MS);
      await new Promise((resolve) => setTimeout(resolve, random % WITHIN_MS));
      await device.kill();
      device = start();
    }
    const says = async (key: string) => latest(rig, id, key);
    // A kill during the trial is a failed attempt, which is tried again after a minute.
    await untilLong(
      async () => (await says("fw_state")) === "UPDATED" && (await says("running")) === "image 2.0.0",
    );
    t.is(await says("current_fw_version"), "2.0.0");
    const pid = Number(await says("pid"));
    t.true(device.seen("started").some((line) => line.version === "2.0.0"));
    t.notThrows(() => process.kill(pid, 0));
    t.is(await device.stop(), 0);
  }
  t.log(`killed after ${moments.join(", ")} ms`);
});

async function untilLong(done: () => Promise<boolean>): Promise<void> {
  for (let patience = 6; patience > 0; patience--) {
    const found = await until(done, "the new image runs").catch(() => false);
    if (found) return;
  }
  throw new Error("the new image does not run");
}
