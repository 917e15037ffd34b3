// What is kept of an RPC over a restart, and how many writes that takes.
import { NAME, type Rig, startRig, test } from "../rig.js";

const text = (results: { kind: string; text?: string }[]) => results.map(({ kind, text }) => text ?? kind);
const started = async (rig: Rig) => {
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(3000);
  return agent;
};

test("where the RPC can't be stored, its handler does not run", async (t) => {
  const rig = startRig(t);
  const agent = await started(rig);
  let runs = 0;
  agent.rpc.handle("open", () => ++runs);
  agent.rpc.handle("read", () => "value", { once: false });
  rig.store.fails = (call, key) => call === "set" && key.startsWith("rpc");
  const device = rig.platform.device(NAME);
  const open = rig.platform.rpc(device, "open", {});
  await rig.clock.advance(2000);
  const read = rig.platform.rpc(device, "read", {});
  await rig.clock.advance(2000);
  t.is(runs, 0);
  t.regex(text(open)[0] ?? "", /HANDLER_FAILED/);
  t.deepEqual(text(read), ['"value"']);
});

test("RPCs one after the other take one write of the store each; the last is forgotten a moment later", async (t) => {
  const rig = startRig(t);
  const agent = await started(rig);
  agent.rpc.handle("open", (n) => n);
  const device = rig.platform.device(NAME);
  const changes = () => rig.store.changes.filter((key) => key.startsWith("rpc")).length;
  for (let n = 1; n <= 5; n++) {
    const results = rig.platform.rpc(device, "open", n);
    await rig.clock.advance(100);
    t.deepEqual(text(results), [`${n}`]);
    t.is(changes(), n);
    t.true(rig.store.values.has("rpc0"));
  }
  await rig.clock.advance(1000);
  t.is(changes(), 6);
  t.false(rig.store.values.has("rpc0"));
});

test("what is over does not stay in the store, whether the RPC after it is stored or not", async (t) => {
  const rig = startRig(t);
  const agent = await started(rig);
  agent.rpc.handle("open", () => true);
  agent.rpc.handle("read", () => "value", { once: false });
  const device = rig.platform.device(NAME);
  rig.platform.rpc(device, "open", {});
  await rig.clock.advance(100);
  t.true(rig.store.values.has("rpc0"));
  const read = rig.platform.rpc(device, "read", {});
  await rig.clock.advance(1000);
  t.deepEqual(text(read), ['"value"']);
  t.false(rig.store.values.has("rpc0"));
});
