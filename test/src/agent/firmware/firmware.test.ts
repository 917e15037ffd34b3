import test from "ava";
import { Device, imageOf, type Mode, Platform } from "./rig.js";

const SIZE = 50_000;
const WHOLE_WAY = ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"];

function updating(mode: Mode, size = SIZE, change = {}): { platform: Platform; device: Device } {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", size), change);
  return { platform, device: new Device(platform, mode) };
}

for (const mode of [1, 2, 3] as const) {
  test(`an assigned image is fetched, verified, started and confirmed with ${mode} connection(s)`, async (t) => {
    const { platform, device } = updating(mode);
    await device.until(() => platform.last.fw_state === "UPDATED");
    t.deepEqual(platform.states, WHOLE_WAY);
    t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
    t.is(device.machine.state, "confirmed");
    t.is(platform.last.current_fw_version, "2.0.0");
    t.is(platform.last.fw_error, "");
    t.is(platform.fetched, SIZE);
    t.is(platform.requests.length, mode === 3 ? 1 : 4);
    await device.pass(600_000);
    t.is(platform.fetched, SIZE, "what runs is not fetched again");
  });
}
