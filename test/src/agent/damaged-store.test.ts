// What damage leaves in the store is no reason not to start.
import { NAME, startRig, test } from "./rig.js";

const MINUTE = 60_000;

/** What damage makes of a stored value. */
const DAMAGES: Readonly<Record<string, (value: Uint8Array) => Uint8Array>> = {
  nothing: () => new Uint8Array(0),
  zero: (value) => value.map(() => 0),
  "what erased flash reads": (value) => value.map(() => 0xff),
  half: (value) => value.subarray(0, value.length >> 1),
  "another type": () => Buffer.from("\u0001[[7],null]"),
  "a turned bit": (value) => value.map((byte, at) => (at === value.length >> 1 ? byte ^ 0x80 : byte)),
};

test("whatever damage makes of the store, the agent starts, and is a device again once its old one is gone", async (t) => {
  const rig = startRig(t);
  const start = () => {
    const agent = rig.agent({ connections: 2 });
    agent.rpc.handle("setLed", () => 1);
    agent.attributes.publish({ model: "a" });
    agent.attributes.subscribe("interval", () => {});
    agent.start();
    return agent;
  };
  start();
  await rig.clock.advance(MINUTE);
  rig.platform.setShared(rig.platform.device(NAME), { interval: 5 });
  await rig.clock.advance(MINUTE);
  rig.powerOff();
  const whole = new Map(rig.store.values);
  t.deepEqual([...whole.keys()].sort(), ["pending", "shared", "token", "token-old"]);
  for (const [damage, damaged] of Object.entries(DAMAGES)) {
    for (const [key, value] of whole) rig.store.values.set(key, damaged(value));
    const agent = start();
    await rig.clock.advance(MINUTE);
    t.not(agent.state, "online", `${damage}: its name is taken`);
    rig.platform.core.deleteDevice(rig.platform.device(NAME));
    await rig.clock.advance(60 * MINUTE);
    t.is(agent.state, "online", damage);
    rig.powerOff();
  }
});
