// One test for each way an update can end before the new image runs: what its operator learns on the platform, and what runs.
import { createHash } from "node:crypto";
import { Lamp } from "./lamp.js";
import {
  atHalf,
  each,
  failed,
  firmwareOnly,
  LONG,
  lampWith,
  MINUTE,
  SIZE,
  stays,
  UPDATED,
  usual,
} from "./reported.js";
import { trials } from "./trials.js";

each("a wrong checksum: FAILED, the old image runs, and it is not fetched again", async (t, shape) => {
  const lamp = lampWith(shape, { checksum: createHash("sha256").update("other").digest("hex") });
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("wrong checksum"));
  t.deepEqual(lamp.states, ["DOWNLOADING", "FAILED"]);
  await stays(t, lamp);
});

each("the right checksum of a truncated image: FAILED, as it can't start", async (t, shape) => {
  const lamp = new Lamp(shape);
  const whole = lamp.image("2.0.0", SIZE);
  lamp.machine.fit = (image) => image.length === whole.length;
  lamp.assign(lamp.package("2.0.0", whole.subarray(0, 15_000)));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the image is not bootable on this device"));
  t.deepEqual(lamp.booted, ["1.0.0"]);
  await stays(t, lamp);
});

each("a checksum in upper-case digits: UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  target.checksum = target.checksum?.toUpperCase();
  lamp.assign(target);
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.deepEqual(lamp.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"]);
  t.is(lamp.machine.state, "confirmed");
  await stays(t, lamp);
});

for (const [difference, size] of [
  ["longer", SIZE - 1],
  ["shorter", SIZE + 1],
] as const)
  each(`a file one byte ${difference} than fw_size: FAILED`, async (t, shape) => {
    const lamp = lampWith(shape, { size });
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed("the platform sent a different length than requested"));
    if (shape.connections === 3) t.true(lamp.machine.fetched.bytes < 1500, "the length said enough");
    await lamp.pass(LONG);
    t.deepEqual(lamp.booted, ["1.0.0"]);
  });

each(
  "a size that is a multiple of the request's: UPDATED, with no request beyond the end",
  async (t, shape) => {
    const lamp = lampWith(shape, {}, 32_768);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
    t.is(lamp.fetches.length, shape.connections === 3 ? 1 : 2);
  },
);

each("a file that leaves the platform's cache for a while: UPDATED", async (t, shape) => {
  const lamp = lampWith(shape, {});
  let evictions = 4;
  lamp.platform.fault = firmwareOnly(() => (evictions-- > 0 ? { status: 500 } : undefined));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.true(evictions < 0);
});

each("a file that the platform never hands out: FAILED, and UPDATED when it does", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500 }));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the platform does not deliver the image (500)"));
  lamp.platform.fault = undefined;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("a version replaced midway: the other one is UPDATED, and none FAILED", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => lamp.release("3.0.0", SIZE));
  await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED");
  t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
  t.false(lamp.states.includes("FAILED"));
  t.deepEqual(lamp.booted, ["1.0.0", "3.0.0"]);
});

for (const [what, status, body, error] of [
  ["404", 404, "", "the platform has no such package (404)"],
  ["400", 400, "", "the platform refuses the title and version (400)"],
  ["500 with a text", 500, "no", "the platform refuses the download (500)"],
  ["200 without a byte", 200, "", "the platform has fewer bytes than fw_size"],
] as const)
  each(`a ${what} midway of what is still assigned: FAILED by name, then UPDATED`, async (t, shape) => {
    const lamp = lampWith(shape, {}, 40_000);
    let requests = 0;
    lamp.platform.fault = firmwareOnly(() => (requests++ === 0 ? { breakAt: 10_000 } : { status, body }));
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed(error));
    lamp.platform.fault = undefined;
    await lamp.untilState("UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
  });

each("a package withdrawn midway: FAILED once, and forgotten", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => lamp.assign(undefined));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the assignment was withdrawn"));
  await stays(t, lamp);
});

each("keys that come one after the other: UPDATED, and never FAILED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.platform.setShared(lamp.device, { fw_title: "lamp", fw_version: "2.0.0" });
  lamp.machine.clock.timer(3000, () => lamp.assign(target));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

// What a confirmed image that turns out bad, and a new one that spoils what is stored, do to a device: both stay within reach.

const OTHER_FORMAT = 99;

each(
  "five crashes of a confirmed image: the agent runs without it, says why, and the fix arrives",
  async (t, shape) => {
    const lamp = new Lamp(shape);
    lamp.release("2.0.0", SIZE);
    await lamp.untilState("UPDATED");
    lamp.onStart = (version) => {
      if (version === "2.0.0") lamp.machine.clock.timer(20_000, () => lamp.crash());
    };
    const starts = lamp.booted.length;
    lamp.machine.off();
    await lamp.until(() => lamp.recovering, 10 * MINUTE);
    t.is(lamp.booted.length - starts, 6, "five with the application, one without");
    const recovery = () => lamp.platform.attributes(lamp.device).moteRecovery;
    await lamp.until(() => recovery() === "it divided by zero", MINUTE);
    lamp.release("3.0.0", SIZE);
    await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED", 30 * MINUTE);
    t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
    t.false(lamp.recovering);
    await lamp.until(() => recovery() === "", 5 * MINUTE);
  },
);

each(
  "a new image that leaves all that is stored in another format: the old one goes on, and UPDATED comes",
  async (t, shape) => {
    const lamp = new Lamp(shape);
    lamp.onStart = (version) => {
      const { machine, booted } = lamp;
      if (version !== "2.0.0" || booted.length !== 2) return;
      for (const value of machine.store.values.values()) value[0] = OTHER_FORMAT;
      lamp.crash();
    };
    lamp.release("2.0.0", SIZE);
    await lamp.untilState("UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
  },
);

// The trial of a new image as by default; reported-trial.slow.test.ts has the other modes and numbers of connections.

trials(usual);
