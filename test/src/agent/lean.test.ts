// The lean build, as a board takes it: dist/xs/mote-lean.js.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Mote from "../../../src/internal.js";
import { read, root } from "../../architecture/tree.js";
import { buildBoards } from "../../built.js";
import { FakeSlot } from "../../fakes/flash.js";
import { fakeHost } from "../../fakes/host.js";
import { details, startRig, test, watch } from "./rig.js";

await buildBoards("mote-lean");
const lean: typeof Mote = await import(pathToFileURL(join(root, "dist/xs/mote-lean.js")).href);

test("lean: telemetry, attributes and RPC work as they do otherwise", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({}, lean.Agent as typeof Mote.Agent);
  agent.rpc.handle("double", (value) => Number(value) * 2);
  const changes = watch(agent);
  agent.start();
  agent.telemetry.record({ temperature: 21 });
  await rig.clock.runUntil(() => agent.state === "online");
  await rig.clock.runUntil(() => details(rig, "delivered").length > 0);
  const { device } = rig;
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.runUntil(() => changes.includes(5));
  const results = rig.platform.rpc(device, "double", 21, { timeoutMs: 60_000 });
  await rig.clock.runUntil(() => results.length > 0);
  t.deepEqual(results, [{ kind: "answer", text: "42" }]);
});

const OPTIONS = { baseUrl: "http://platform.test", token: "T1" };

test("lean: options of what is left out are refused by name", (t) => {
  const firmware = { title: "lamp", version: "1.0.0" };
  t.throws(() => new lean.Agent(fakeHost(), { ...OPTIONS, connections: 3, firmware, cycle: {} }), {
    code: "BAD_OPTIONS",
    message:
      "connections must be a whole number from 1 to 2; cycle is not supported by this build; firmware is not supported by this build",
  });
});

test("lean: calls of what is left out reject by name", async (t) => {
  const agent = new lean.Agent(fakeHost(), OPTIONS);
  const calls: [string, Promise<unknown>][] = [
    ["runOnce", agent.runOnce()],
    ["claim", agent.claim({ secretKey: "s" })],
    ["rpc.call", agent.rpc.call("getTime", {})],
  ];
  for (const [name, call] of calls)
    await t.throwsAsync(call, { code: "LEFT_OUT", message: `${name} is not supported by this build` });
  agent.firmware.retry();
});

test("lean: the application is started whatever ended the runs before", (t) => {
  const host = fakeHost({ lastRun: { reset: "panic", crash: "RangeError" } });
  for (let run = 0; run < 7; run++) {
    const recovery = new lean.Recovery(host, "1");
    recovery.attach(new lean.Agent(host, OPTIONS) as unknown as Mote.Agent);
    t.deepEqual([recovery.active, recovery.cause], [false, ""]);
  }
});

test("lean: a new image on trial is not kept, as nothing could ever replace it", async (t) => {
  const slot = new FakeSlot(8 * 4096, 4096);
  slot.current = "pending";
  const host = fakeHost({ slot });
  const agent = new lean.Agent(host, OPTIONS);
  agent.start();
  await host.clock.advance(10);
  t.true(slot.reverted);
  t.deepEqual(host.restarts, ["firmware"]);
  await Promise.all([agent.stop(), host.clock.advance(0)]);
});

test("lean: the build lacks what is left out, and its manifest replaces one module alone", (t) => {
  t.notRegex(
    read("dist/xs/mote-lean.js"),
    /fw_checksum|SHA384|UpdateJournal|Murmur|0xffffffff00000001|connectEvery|secretKey|moteRecovery|updates\?timeout/,
  );
  t.deepEqual(JSON.parse(read("manifest-lean.json")), {
    modules: { mote: "./dist/xs/mote-lean", "~": "./dist/xs/mote" },
    preload: ["mote"],
  });
});
