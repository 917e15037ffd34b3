// How open requests end when the device is changed, deleted or hangs up, and how much of it is kept.
import test from "ava";
import { createRig } from "./rig.js";

test("after a change of credentials an open poll gets nothing and ends by its time", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "rpc?timeout=1000");
  rig.core.devices.setCredentials(rig.device, { type: "ACCESS_TOKEN", credentialsId: "other", value: null });
  rig.send("read");
  t.is(poll.status, undefined);
  rig.clock.advance(1_000);
  t.is(poll.status, 408);
  t.is(rig.call("GET", "rpc?timeout=1000").status, 401);
});

test("open requests of a deleted device get 403, and later ones 401", (t) => {
  const rig = createRig();
  const polls = [rig.call("GET", "rpc?timeout=1000"), rig.call("GET", "attributes/updates?timeout=1000")];
  rig.core.deleteDevice(rig.device);
  t.deepEqual(
    polls.map(({ status, text }) => [status, text]),
    [
      [403, "Device was deleted!"],
      [403, "Device was deleted!"],
    ],
  );
  t.is(rig.call("GET", "rpc?timeout=1000").status, 401);
});

test("a thousand RPCs may wait, one more is refused", (t) => {
  const rig = createRig();
  for (let sent = 0; sent < 1_000; sent++) t.not(rig.send("m").id, undefined);
  t.is(rig.send("m").id, undefined);
});

test("a device that hangs up from poll after poll leaves a bounded number of sessions", (t) => {
  const rig = createRig();
  for (let poll = 0; poll < 3_000; poll++) rig.call("GET", "rpc?timeout=599000").hangUp();
  t.true(rig.device.open.size <= 1_000);
  t.true(rig.clock.waiting <= 2_100);
});
