// The running version is assigned: there is nothing to fetch, and whoever assigned it waits to hear so.
import test from "ava";
import { Lamp } from "./lamp.js";
import { each, MINUTE, SIZE } from "./reported.js";

const updates = (lamp: Lamp) =>
  lamp.platform.points(lamp.device, "fw_state").filter(({ value }) => value === "UPDATED").length;

each("the running version, assigned to a device that was never updated, is UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const image = lamp.images.get("1.0.0") as Uint8Array;
  lamp.assign(lamp.package("1.0.0", image));
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, { state: "UPDATED", error: "", running: "1.0.0" });
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 1);
  t.deepEqual([lamp.fetches, lamp.booted], [[], ["1.0.0"]]);
});

each("the running version, withdrawn for a while and assigned again, is UPDATED again", async (t, shape) => {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.assign(target);
  await lamp.untilState("UPDATED");
  const fetches = lamp.fetches.length;
  for (const times of [2, 3]) {
    lamp.assign(undefined);
    await lamp.pass(2 * MINUTE);
    lamp.assign(target);
    await lamp.until(() => updates(lamp) === times);
    t.is(lamp.latest("fw_state"), "UPDATED");
  }
  t.is(lamp.fetches.length, fetches);
});

each("a restart does not repeat UPDATED under another time", async (t, shape) => {
  const lamp = new Lamp(shape);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  lamp.machine.off();
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 1);
});

each("a failed update that is answered by assigning the running version ends UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  const broken = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  Object.assign(broken, { checksum: "0".repeat(64) });
  lamp.assign(broken);
  await lamp.untilState("FAILED");
  lamp.assign(first);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, { state: "UPDATED", error: "", running: "1.0.0" });
  t.deepEqual(lamp.booted, ["1.0.0"]);
});

test("withdrawn and assigned again in a moment, it is UPDATED again where a poll for attributes is open", async (t) => {
  const lamp = new Lamp({ connections: 3 });
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.assign(target);
  await lamp.untilState("UPDATED");
  await lamp.pass(MINUTE);
  lamp.assign(undefined);
  lamp.assign(target);
  await lamp.until(() => updates(lamp) === 2);
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 2);
  t.is(lamp.latest("fw_state"), "UPDATED");
});
