// Trials of a new image that go on for days without the platform: what its operator learns, and
// what runs.
import { away, each, failed, MINUTE, onTrial, UPDATED } from "./reported.js";

each("five trials in a row without the platform: UPDATED once it is there", async (t, shape) => {
  const lamp = await onTrial(shape, away);
  await lamp.until(() => lamp.booted.filter((version) => version === "2.0.0").length === 6, 48 * 60 * MINUTE);
  lamp.reachable = true;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("trials without the platform are not crashes: condemned by the fourth crash", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.onStart = (version) => {
      const trials = lamp.booted.filter((version) => version === "2.0.0").length;
      lamp.reachable = version === "1.0.0";
      if (version === "2.0.0" && trials > 2) lamp.crash();
    };
  });
  await lamp.pass(72 * 60 * MINUTE);
  t.deepEqual(lamp.shown, failed("not confirmed (it divided by zero)"));
  t.is(lamp.booted.filter((version) => version === "2.0.0").length, 2 + 4);
});
