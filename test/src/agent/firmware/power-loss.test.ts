// What is in the slot while an image comes, and after a power loss. Power losses at every operation are in test/power-loss/suites/firmware.slow.test.ts.
import test from "ava";
import { Device, imageOf, Platform } from "./rig.js";

const SIZE = 30_000;

test("while an image is fetched over an older one the slot has no header", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 2);
  const [, slot] = device.machine.slots;
  slot.bytes.set(imageOf("0.9.0", SIZE));
  await device.until(() => platform.fetched > 0);
  t.true(slot.bytes.subarray(0, 32).every((byte) => byte === 0xff));
  await device.until(() => platform.last.fw_state === "UPDATED");
});

test("after a power loss a verified image is read back again before it starts", async (t) => {
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
