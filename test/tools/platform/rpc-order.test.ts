// The order in which the platform takes what one device sends: what the agent's journal of RPCs rests on.
import test from "ava";
import { RpcActor } from "../../../tools/platform/core/rpc/rpc.js";
import { createRig } from "./rig.js";

test("no poll that is sent after an answer was accepted brings that RPC again", (t) => {
  const rig = createRig();
  for (let id = 0; id < 50; id++) {
    const before = id % 2 === 0 ? rig.call("GET", "rpc?timeout=1000") : undefined;
    rig.send("setLed", { params: "true" });
    const brought = before ?? rig.call("GET", "rpc?timeout=1000");
    t.is(JSON.parse(brought.text).id, id);
    t.is(rig.call("POST", `rpc/${id}`, "1").status, 200);
    const after = rig.call("GET", "rpc?timeout=1000");
    t.is(after.status, undefined, "it waits for the next");
    rig.clock.advance(1000);
    t.is(after.status, 408);
  }
});

test("a poll that was open when the RPC came has its copy, however late that is sent on", (t) => {
  const rig = createRig();
  const polls = [rig.call("GET", "rpc?timeout=1000"), rig.call("GET", "rpc?timeout=1000")];
  rig.send("setLed");
  rig.call("POST", "rpc/0", "1");
  t.deepEqual(
    polls.map(({ text }) => JSON.parse(text).id),
    [0, 0],
  );
});

test("a device that moves to another node of a cluster gets ids from 0 again, and what waited is gone", (t) => {
  const rig = createRig();
  rig.send("setLed", { params: "1" });
  t.is(JSON.parse(rig.call("GET", "rpc?timeout=1000").text).id, 0);
  // Its actor is a new one on the other node; connections to the transport stay.
  rig.device.rpc.close();
  Object.assign(rig.device, { rpc: new RpcActor(rig.core.clock) });
  const poll = rig.call("GET", "rpc?timeout=1000");
  t.is(poll.status, undefined, "the unanswered one is not handed out");
  const { results } = rig.send("setLed", { params: "1" });
  t.is(JSON.parse(poll.text).id, 0);
  rig.call("POST", "rpc/0", "7");
  t.deepEqual(results, [{ kind: "answer", text: "7" }]);
});
