// One test for each way the trial of a new image can end: what its operator learns on the platform, and what runs.
import type { Lamp } from "./lamp.js";
import { away, type Each, failed, LONG, MINUTE, onTrial, stays, UPDATED } from "./reported.js";

const never = new Promise<boolean>(() => {});

export function trials(each: Each): void {
  for (const [how, selfTest] of [
    ["never ends", () => never],
    ["answers false", () => false],
    ["throws", () => Promise.reject(new Error("no sensor"))],
  ] as const)
    each(`a self test that ${how}: FAILED within 6 minutes, and not tried again`, async (t, shape) => {
      const lamp = await onTrial({ ...shape, firmware: { selfTest } });
      const since = lamp.machine.clock.now();
      await lamp.untilState("FAILED", "UPDATED");
      t.deepEqual(lamp.shown, failed("the new image failed its self-test"));
      t.true(lamp.machine.clock.now() - since < 6 * MINUTE);
      t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
      await stays(t, lamp);
    });

  each("an image that the platform never accepts: FAILED after 10 minutes", async (t, shape) => {
    const lamp = await onTrial(shape, (lamp) => {
      lamp.platform.fault = () => (lamp.version === "2.0.0" ? { status: 401 } : undefined);
    });
    const since = lamp.machine.clock.now();
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed("the platform did not accept the new image in time"));
    const took = lamp.machine.clock.now() - since;
    t.true(took >= 10 * MINUTE && took < 12 * MINUTE, `${took} ms`);
  });

  each("an image that crashes at once: FAILED, and condemned after its fourth start", async (t, shape) => {
    const lamp = await onTrial(shape, (lamp) => {
      lamp.onStart = (version) => version === "2.0.0" && lamp.crash();
    });
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed("the new image did not start (it divided by zero)"));
    const fetches = lamp.fetches.length;
    await lamp.pass(2 * LONG);
    t.deepEqual(lamp.shown, failed("the new image did not start (it divided by zero)"));
    t.is(lamp.booted.filter((version) => version === "2.0.0").length, 4);
    t.is(lamp.fetches.length, fetches, "the slot held the image all the time");
  });

  each("an image that confirms late: UPDATED then, and not before", async (t, shape) => {
    let pass: (good: boolean) => void = () => {};
    const selfTest = () =>
      new Promise<boolean>((resolve) => {
        pass = resolve;
      });
    const lamp = await onTrial({ ...shape, firmware: { selfTest } });
    await lamp.pass(4 * MINUTE);
    t.deepEqual(lamp.shown, { state: "UPDATING", error: "", running: "1.0.0" });
    t.is(lamp.machine.state, "pending");
    pass(true);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
    t.is(lamp.machine.state, "confirmed");
  });

  each("a platform that is away for 50 minutes of the confirmation: UPDATED", async (t, shape) => {
    const lamp = await onTrial(shape, away);
    await lamp.pass(50 * MINUTE);
    t.is(lamp.machine.state, "pending");
    lamp.reachable = true;
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
  });

  each("a platform that only the old image can reach: FAILED after an hour", async (t, shape) => {
    const lamp = await onTrial(shape, away);
    const since = lamp.machine.clock.now();
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed("the new image could not reach the platform"));
    t.true(lamp.machine.clock.now() - since < 62 * MINUTE);
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
  });

  each(
    "a power loss during the confirmation: FAILED, and UPDATED without a byte fetched again",
    async (t, shape) => {
      const selfTest = () => (lamp.machine.starts === 2 ? never : true);
      const lamp: Lamp = await onTrial({ ...shape, firmware: { selfTest } });
      await lamp.pass(1000);
      const fetches = lamp.fetches.length;
      lamp.machine.off();
      await lamp.untilState("FAILED", "UPDATED");
      t.deepEqual(lamp.shown, failed("power was lost before the new image was confirmed"));
      await lamp.untilState("UPDATED");
      t.deepEqual(lamp.shown, UPDATED);
      t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
      t.is(lamp.fetches.length, fetches);
    },
  );

  each("five power losses in a row on trial: tried again, and UPDATED", async (t, shape) => {
    let powerLosses = 0;
    const lamp = await onTrial(shape, (lamp) => {
      lamp.onStart = (version) => {
        if (version === "2.0.0" && powerLosses++ < 5)
          lamp.machine.clock.timer(powerLosses % 2, () => lamp.machine.off());
      };
    });
    await lamp.until(() => powerLosses === 6, 48 * 60 * MINUTE);
    await lamp.untilState("UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
  });

  each(
    "a platform that is down behind a proxy for 50 minutes of the confirmation: UPDATED",
    async (t, shape) => {
      const lamp = await onTrial(shape, (lamp) => {
        lamp.platform.fault = () => (lamp.version === "2.0.0" ? { status: 502 } : undefined);
      });
      await lamp.pass(50 * MINUTE);
      t.is(lamp.machine.state, "pending");
      lamp.platform.fault = () => undefined;
      await lamp.untilState("FAILED", "UPDATED");
      t.deepEqual(lamp.shown, UPDATED);
      t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
    },
  );
}
