// The power goes at every durable operation of a whole update, from the first stored state to the confirmation.
import test from "ava";
import { Device, imageOf, type Mode, Platform } from "./firmware-bench.js";
import { type Cut, SECTOR } from "./firmware-machine.js";

const SIZE = 30_000;
const RESTART_COST = 16_384;
const MODES: Mode[] = [1, 3];
const CUTS: Cut[] = ["before", "torn", "after"];

/** Something could take the slot's first sector for an image: then the rest must be one. */
function isWholeOrHeadless(device: Device, image: Uint8Array): boolean {
  const slot = device.machine.slots[1].bytes;
  const headless = slot.subarray(0, 64).every((byte) => byte === 0xff);
  return headless || Buffer.compare(slot.subarray(SECTOR, image.length), image.subarray(SECTOR)) === 0;
}

async function update(
  mode: Mode,
  cutAt: number,
  cut: Cut,
  again = 0,
): Promise<{ device: Device; platform: Platform }> {
  const platform = new Platform();
  const image = imageOf("2.0.0", SIZE);
  platform.assign("2.0.0", image);
  const device = new Device(platform, mode);
  device.machine.cutAt = cutAt;
  device.machine.cut = cut;
  await device.until(() => !device.machine.alive);
  if (!isWholeOrHeadless(device, image)) throw new Error(`half an image with a header after cut ${cutAt}`);
  if (again > 0) {
    // Once more, so many operations after the power came back.
    device.machine.cutAt = device.machine.operations.length + again - 1;
  }
  await device.until(() => platform.last.fw_state === "UPDATED");
  return { device, platform };
}

for (const mode of MODES) {
  for (const cut of CUTS) {
    test(`after a power cut (${cut}) at any write the update ends well, ${mode} connection(s)`, async (t) => {
      const { operations } = (await update(mode, -1, cut)).device.machine;
      let most = 0;
      for (let at = 0; at < operations.length; at++) {
        const where = `cut ${at} (${operations[at]}, ${cut})`;
        // A start of anything but a whole image throws.
        const { device, platform } = await update(mode, at, cut);
        t.is(device.version, "2.0.0", where);
        t.is(device.machine.state, "confirmed", where);
        most = Math.max(most, platform.fetched - SIZE);
      }
      t.log(`${operations.length} cuts, ${most} bytes fetched again at most`);
      t.true(most <= RESTART_COST, `${most} bytes were fetched again`);
    });
  }
}

test("after a second power cut during the recovery from the first the update ends well", async (t) => {
  const { operations } = (await update(3, -1, "torn")).device.machine;
  let runs = 0;
  for (let at = 0; at < operations.length; at++) {
    for (const again of [1, 5]) {
      const { device } = await update(3, at, "torn", again);
      t.is(device.version, "2.0.0", `cut ${at} and ${again} later`);
      runs++;
    }
  }
  t.log(`${runs} pairs of cuts`);
});

test("a power cut between any two fragments costs 16 KiB at most", async (t) => {
  for (const mode of [1, 3] as const) {
    let most = 0;
    for (let fragment = 0; fragment < 21; fragment++) {
      const platform = new Platform();
      platform.assign("2.0.0", imageOf("2.0.0", SIZE));
      const device = new Device(platform, mode);
      let left = fragment;
      platform.onFragment = () => {
        if (left-- === 0) device.machine.off();
      };
      await device.until(() => platform.last.fw_state === "UPDATED");
      most = Math.max(most, platform.fetched - SIZE);
    }
    t.log(`${mode} connection(s): ${most} bytes fetched again at most`);
    t.true(most > 0 && most <= RESTART_COST, `${most} bytes were fetched again`);
  }
});

test("while an image is fetched over an older one the slot has no header", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 2);
  const [, slot] = device.machine.slots;
  slot.bytes.set(imageOf("0.9.0", SIZE));
  await device.until(() => platform.fetched > 0);
  t.true(slot.bytes.subarray(0, SECTOR).every((byte) => byte === 0xff));
  await device.until(() => platform.last.fw_state === "UPDATED");
});

test("after a power cut a verified image is read back again before it starts", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 2);
  platform.onReport = ({ fw_state }) => {
    if (fw_state !== "VERIFIED") return;
    platform.onReport = undefined;
    device.machine.off();
    device.machine.slots[1].bytes[9000]! ^= 1;
  };
  await device.until(() => platform.last.fw_state === "FAILED");
  t.is(platform.last.fw_error, "the slot does not hold what was written");
  t.deepEqual(device.booted, ["1.0.0", "1.0.0"]);
});
