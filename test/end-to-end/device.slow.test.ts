// One device on the Node host, judged through the platform's REST.
import test from "ava";
import { OperatorError } from "../../tools/operator/error.js";
import { Operator } from "../../tools/operator/operator.js";
import { release } from "./firmware-large.js";
import { latest, startRig, until } from "./rig.js";
import { image, imageText, run } from "./run.js";
import { isGiven, PATIENCE_MS, SERVERS, SKEW_MS, withCustomer, withRuleChain } from "./server.js";

/** The platform answers the device before it has stored the claim. */
function isTooEarly(error: unknown): false {
  if (error instanceof OperatorError && error.status === 400) return false;
  throw error;
}

/** For what a slow server may take its time with. */
const FLUSH_MS = PATIENCE_MS / 2;
const RPC = isGiven ? { timeoutMs: 30_000 } : {};

for (const server of SERVERS) {
  for (const connections of [1, 2, 3] as const) {
    const title = `${server.name}, ${connections} connection${connections > 1 ? "s" : ""}`;

    test(`${title}: a device provisions itself and its points arrive with their own time stamps`, async (t) => {
      const rig = await startRig(t, server);
      const agent = rig.agent({ connections });
      for (let i = 0; i < 100; i++) agent.telemetry.record({ count: i, even: i % 2 === 0, text: `n${i}` });
      agent.telemetry.record({ past: 1 }, { ts: 1_600_000_000_000 });
      agent.start();
      const id = await rig.deviceId();
      const all = { keys: ["count", "text", "past"], startTs: 0, limit: 1000, orderBy: "ASC" } as const;
      const series = await until(async () => {
        const found = await rig.operator.timeSeries.range(id, {
          ...all,
          endTs: Date.now() + 60_000 + SKEW_MS,
        });
        return found.count?.length === 100 && found.text?.length === 100 && found.past && found;
      }, "all points are there");
      t.deepEqual(
        series.count?.map((point) => point.value),
        [...Array(100).keys()],
      );
      t.is(new Set(series.count?.map((point) => point.ts)).size, 100);
      t.is(series.text?.[7]?.value, "n7");
      t.deepEqual(series.past, [{ ts: 1_600_000_000_000, value: 1 }]);
    });

    test(`${title}: RPCs reach their handlers; an unknown method gets an error`, async (t) => {
      const rig = await startRig(t, server);
      const agent = rig.agent({ connections });
      const seen: unknown[] = [];
      agent.rpc.handle<{ on: boolean }>("setLed", ({ on }) => ({ on }));
      agent.rpc.handle("note", (params) => {
        seen.push(params);
      });
      agent.start();
      const id = await rig.deviceId();
      t.deepEqual(await rig.operator.rpc.twoWay(id, "setLed", { on: true }, RPC), { on: true });
      t.is(await rig.operator.rpc.twoWay(id, "note", "two-way", RPC), null);
      await rig.operator.rpc.oneWay(id, "note", [1, 2], RPC);
      await until(async () => seen.length === 2, "the one-way RPC was handled");
      t.deepEqual(seen, ["two-way", [1, 2]]);
      const unknown = await rig.operator.rpc.twoWay(id, "setLe", {}, RPC);
      t.like(unknown, { error: { code: "METHOD_NOT_FOUND" } });
    });
  }

  test(`${server.name}: client attributes are written, and attributes of both kinds read by key`, async (t) => {
    const rig = await startRig(t, server);
    const agent = rig.agent();
    agent.attributes.publish({ serial: "A-113", limits: { low: 1, high: [2.5, null] } });
    agent.start();
    const id = await rig.deviceId();
    await until(
      async () => (await rig.operator.attributes.get(id, "CLIENT_SCOPE", ["limits"])).limits !== undefined,
      "they are there",
    );
    const written = await rig.operator.attributes.get(id, "CLIENT_SCOPE", ["serial", "limits"]);
    t.deepEqual(written, { serial: "A-113", limits: { low: 1, high: [2.5, null] } });
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { interval: 5, other: true });
    const read = await agent.attributes.read({ clientKeys: ["serial"], sharedKeys: ["interval", "absent"] });
    t.deepEqual({ ...read.client }, { serial: "A-113" });
    t.deepEqual({ ...read.shared }, { interval: 5 });
  });

  test(`${server.name}: a subscriber sees a shared attribute set, changed and deleted, each once`, async (t) => {
    const rig = await startRig(t, server);
    const agent = rig.agent();
    const seen: unknown[] = [];
    agent.attributes.subscribe("interval", (value) => seen.push(value));
    agent.start();
    const id = await rig.deviceId();
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { interval: 5 });
    await until(async () => seen.length === 1, "the first value came");
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { interval: 7 });
    await until(async () => seen.length === 2, "the change came");
    await rig.operator.attributes.delete(id, "SHARED_SCOPE", ["interval"]);
    await until(async () => seen.length === 3, "the deletion came");
    t.deepEqual(seen, [5, 7, undefined]);
  });

  withRuleChain(`${server.name}: the rule chain answers a client-side RPC`, async (t) => {
    const rig = await startRig(t, server);
    const agent = rig.agent();
    agent.start();
    await rig.deviceId();
    const answer = await agent.rpc.call("getCurrentTime", {});
    t.regex(JSON.stringify(answer), /\d{13}/);
  });

  withCustomer(`${server.name}: a customer claims the device only with its secret`, async (t) => {
    const rig = await startRig(t, server);
    const agent = rig.agent();
    agent.start();
    const id = await rig.deviceId();
    await agent.claim({ secretKey: "s3cret", durationMs: 60_000 });
    const customer = new Operator({ url: rig.url });
    await customer.login(server.customer.username, server.customer.password);
    await t.throwsAsync(customer.devices.claim(rig.name, "wrong"), { message: /: 400/ });
    // A wrong secret voids the claim: the device has to start again.
    await agent.claim({ secretKey: "s3cret", durationMs: 60_000 });
    await until(
      () => customer.devices.claim(rig.name, "s3cret").then(() => true, isTooEarly),
      "the claim is completed",
    );
    const device = await rig.operator.devices.get(id);
    t.is(device.customerId?.id, (await customer.user()).customerId?.id);
  });

  test(`${server.name}: the token is kept: a second start asks for none`, async (t) => {
    const rig = await startRig(t, server);
    const first = rig.agent();
    first.start();
    const id = await rig.deviceId();
    first.telemetry.record({ start: 1 });
    t.like(await first.flush({ timeoutMs: FLUSH_MS }), { dropped: 0, waiting: 0 });
    await first.stop();
    const second = rig.agent();
    const adopted: boolean[] = [];
    second.on("provisioned", (detail) => adopted.push(detail.adopted));
    second.telemetry.record({ start: 2 });
    second.start();
    t.like(await second.flush({ timeoutMs: FLUSH_MS }), { dropped: 0, waiting: 0 });
    t.deepEqual(adopted, [true]);
    await until(async () => (await latest(rig, id, "start")) === 2, "the second start is there");
    t.is((await rig.operator.devices.list({ textSearch: rig.name })).totalElements, 1);
  });

  // The poll that is open then brings only the deletion of the keys.
  test(`${server.name}: an update that is assigned during a poll starts`, async (t) => {
    const rig = await startRig(t, server);
    const device = run(t, rig, image(rig, "1.0.0", "agent.telemetry.record({ running: 1 });"));
    const id = await rig.deviceId();
    await until(async () => (await latest(rig, id, "current_fw_version")) === "1.0.0", "it runs");
    const next = imageText(rig, "2.0.0", "agent.telemetry.record({ running: 2 });");
    await release(rig, "2.0.0", Buffer.from(next));
    await until(async () => (await latest(rig, id, "fw_state")) === "UPDATED", "it is updated");
    await until(async () => (await latest(rig, id, "current_fw_version")) === "2.0.0", "it says so");
    await until(async () => (await latest(rig, id, "running")) === 2, "the new image records");
    t.is(await device.stop(), 0);
  });
}

const [first] = SERVERS;

test(`${first.name}: points without time stamps get the platform's time`, async (t) => {
  const rig = await startRig(t, first);
  const agent = rig.agent({ telemetry: { timestamps: "platform" } });
  const before = Date.now();
  agent.start();
  agent.telemetry.record({ alone: 1 });
  t.like(await agent.flush({ timeoutMs: FLUSH_MS }), { dropped: 0, waiting: 0 });
  const id = await rig.deviceId();
  agent.telemetry.record({ first: 1 });
  agent.telemetry.record({ second: 2 });
  t.like(await agent.flush({ timeoutMs: FLUSH_MS }), { dropped: 0, waiting: 0 });
  const found = await until(async () => {
    const values = await rig.operator.timeSeries.latest(id, ["alone", "first", "second"]);
    return Object.keys(values).length === 3 && values;
  }, "all three are there");
  for (const { ts } of Object.values(found)) t.true(ts >= before - SKEW_MS && ts <= Date.now() + SKEW_MS);
});
