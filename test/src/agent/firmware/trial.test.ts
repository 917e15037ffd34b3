import test from "ava";
import type { FirmwareOptions } from "../../../../src/agent/firmware/firmware.js";
import { Device, imageOf, Platform, sha256 } from "./rig.js";

const SIZE = 20_000;
const MINUTE = 60_000;

/** A device that was just restarted into 2.0.0. `setUp` is called before its first start. */
async function onTrial(
  options: Partial<FirmwareOptions>,
  setUp: (device: Device, platform: Platform) => void = () => {},
): Promise<{ platform: Platform; device: Device }> {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 2, options);
  setUp(device, platform);
  await device.until(() => device.version === "2.0.0");
  return { platform, device };
}

const failed = (platform: Platform) => () => platform.last.fw_state === "FAILED";

test("a new image is confirmed only after its self test passed", async (t) => {
  let pass: (good: boolean) => void = () => {};
  const selfTest = () =>
    new Promise<boolean>((resolve) => {
      pass = resolve;
    });
  const { platform, device } = await onTrial({ selfTest });
  await device.pass(MINUTE);
  t.is(device.machine.state, "pending");
  t.is(platform.last.fw_state, "UPDATING");
  t.false(platform.reports.some(({ values }) => values.current_fw_version === "2.0.0"));
  pass(true);
  await device.until(() => platform.last.fw_state === "UPDATED", MINUTE);
  t.is(device.machine.state, "confirmed");
});

for (const [title, selfTest] of [
  ["answers false", () => false],
  ["throws", () => Promise.reject(new Error("no sensor"))],
  ["never answers", () => new Promise<boolean>(() => {})],
] as const) {
  test(`when the self test ${title}, the image before returns, reports why, and does not try again`, async (t) => {
    const { platform, device } = await onTrial({ selfTest });
    await device.until(failed(platform));
    t.is(platform.last.fw_error, "the new image failed its self test");
    t.is(platform.last.current_fw_version, "1.0.0");
    await device.pass(3 * 60 * MINUTE);
    t.deepEqual(device.booted, ["1.0.0", "2.0.0", "1.0.0"]);
    t.is(device.machine.state, "confirmed");
  });
}

test("a new image that the platform never accepts gives way after 10 minutes, and is tried again", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    device.accepted = (version) => version === "1.0.0";
  });
  const since = device.machine.clock.now();
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image was not accepted by the platform in time");
  const took = device.machine.clock.now() - since;
  t.true(took >= 10 * MINUTE && took < 11 * MINUTE, `${took} ms`);
  device.accepted = () => true;
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(platform.fetched, SIZE, "the slot still held the image");
});

test("the 10 minutes do not run while the platform is away", async (t) => {
  const { platform, device } = await onTrial({}, (device, platform) => {
    platform.onReport = (values) => {
      if (values.fw_state === "UPDATING") platform.reachable = false;
    };
    t.truthy(device);
  });
  await device.pass(50 * MINUTE);
  t.is(device.machine.state, "pending");
  platform.reachable = true;
  await device.until(() => platform.last.fw_state === "UPDATED", MINUTE);
  t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
});

test("a new image that can't reach the platform for an hour gives way", async (t) => {
  const { platform, device } = await onTrial({}, (_device, platform) => {
    platform.onReport = (values) => {
      if (values.fw_state === "UPDATING") platform.reachable = false;
    };
  });
  await device.until(() => device.version === "1.0.0", 70 * MINUTE);
  platform.onReport = undefined;
  platform.reachable = true;
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image could not reach the platform");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(platform.fetched, SIZE);
});

test("an image that crashes at once is given up after four starts", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    device.crashes = { "2.0.0": 0 };
  });
  await device.until(failed(platform));
  t.regex(String(platform.last.fw_error), /the new image (did not start|ended before it was confirmed)/);
  await device.pass(5 * 60 * MINUTE);
  t.is(device.booted.filter((version) => version === "2.0.0").length, 4);
  t.is(device.version, "1.0.0");
  t.is(platform.fetched, SIZE);
});

test("a power loss during the trial is one attempt and no ban", async (t) => {
  const { platform, device } = await onTrial({
    selfTest: () => device.machine.starts !== 2 || new Promise(() => {}),
  });
  await device.pass(1000);
  device.machine.off();
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image ended before it was confirmed");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
  t.is(platform.fetched, SIZE);
});

test("an image that calls itself by another version gives way", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.1", SIZE));
  platform.packages.set("2.0.1", imageOf("2.0.1", SIZE));
  const device = new Device(platform, 2);
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image calls itself by another title or version");
  await device.pass(3 * 60 * MINUTE);
  t.deepEqual(device.booted, ["1.0.0", "2.0.1", "1.0.0"]);
});

test("an image whose confirmation was stored, but not its report, reports UPDATED after the next start", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    let confirmed = false;
    device.machine.onOperation = (name) => {
      if (confirmed) device.machine.off();
      confirmed = name === "confirm";
    };
  });
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "2.0.0", "2.0.0"]);
});

test("a state that is reported again after a restart has the time stamp of the first report", async (t) => {
  const { platform, device } = await onTrial({});
  await device.until(() => platform.last.fw_state === "UPDATED");
  device.machine.off();
  await device.pass(MINUTE);
  const updated = platform.reports.filter(({ values }) => values.fw_state === "UPDATED");
  t.is(updated.length, 2);
  t.is(updated[0]?.ts, updated[1]?.ts);
  const stamps = new Set(platform.reports.filter(({ values }) => values.fw_state).map(({ ts }) => ts));
  t.is(stamps.size, 5, "no state replaces another");
});

test("the next version follows a confirmed one", async (t) => {
  const { platform, device } = await onTrial({});
  await device.until(() => platform.last.fw_state === "UPDATED");
  const next = imageOf("3.0.0", SIZE + 5);
  platform.assign("3.0.0", next);
  device.firmware.offer(platform.shared);
  await device.until(() => device.version === "3.0.0" && platform.last.fw_state === "UPDATED");
  const { machine } = device;
  t.is(sha256(machine.slots[machine.active].bytes.slice(0, next.length)), sha256(next));
});

for (const [fails, state, booted] of [
  [3, "UPDATED", ["1.0.0", "2.0.0"]],
  [10, "FAILED", ["1.0.0", "2.0.0", "1.0.0"]],
] as const) {
  test(`a host that can't confirm the image ${fails} times is asked each minute, ten times at the most: ${state}`, async (t) => {
    let left = fails as number;
    const at: number[] = [];
    const { platform, device } = await onTrial({}, (device) => {
      device.machine.onOperation = (name) => {
        if (name !== "confirm") return undefined;
        at.push(device.machine.clock.now());
        return left-- <= 0;
      };
    });
    await device.until(() => ["UPDATED", "FAILED"].includes(String(platform.last.fw_state)));
    t.is(platform.last.fw_state, state);
    if (state === "FAILED")
      t.is(platform.last.fw_error, "the device could not store that the new image is kept");
    t.deepEqual(device.booted, booted);
    t.is(at.length, Math.min(10, fails + 1));
    // What else happens to the update meanwhile, as the first look at its keys, may bring the next try forward.
    t.true(
      at.slice(2).every((ms, i) => ms - at[i + 1]! === MINUTE),
      `${at}`,
    );
  });
}
