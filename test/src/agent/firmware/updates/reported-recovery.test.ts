// What a confirmed image that turns out bad, and a new one that spoils what is stored, do to a device: both stay within reach.
import { Lamp } from "./lamp.js";
import { each, MINUTE, SIZE, UPDATED } from "./reported.js";

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
