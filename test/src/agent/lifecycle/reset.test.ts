// A device forgets who it is: all of it or nothing, whoever asks, and whatever the store does.
import type { ExecutionContext } from "ava";
import { Agent, MoteError } from "../../../../src/index.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";
import { storedBytes } from "../../../fakes/stored.js";
import { details, type Rig, startOnline, startRig, test, watch } from "../rig.js";

const MINUTE = 60_000;
/** What a reset forgets, and what it leaves. */
const GIVEN = ["wifi", "commission", "new-token", "new-proposed", "rpc"];
const FORGOTTEN = [...GIVEN, "token", "proposed", "client", "shared", "reset"];
const LEFT = ["platform", "firmware", "recovery"];

/** A device that is online and has something stored under each key. */
async function startFurnished(t: ExecutionContext) {
  const started = await startOnline(t);
  for (const key of [...GIVEN, ...LEFT]) started.rig.store.values.set(key, storedBytes(`"${key}"`));
  return started;
}

const kept = (rig: Rig, keys: readonly string[]) => keys.filter((key) => rig.store.values.has(key));

/** Runs `call` to its end; returns the code of its error. */
const codeOf = ({ clock }: Pick<Rig, "clock">, call: Promise<unknown>): Promise<string | undefined> =>
  clock.untilSettled(
    call.then(
      () => undefined,
      (error) => (error instanceof MoteError ? error.code : String(error)),
    ),
    0,
  );

test("a reset forgets Wi-Fi, token, queue and snapshot, and nothing else", async (t) => {
  const { rig, agent, device } = await startFurnished(t);
  agent.attributes.publish({ serial: "A" });
  watch(agent);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(MINUTE);
  rig.platform.fault = () => "drop";
  agent.telemetry.record({ old: 1 });
  t.deepEqual(kept(rig, ["wifi", "token", "client", "shared"]).length, 4);
  t.is(await codeOf(rig, agent.reset()), undefined);
  t.deepEqual(kept(rig, FORGOTTEN), []);
  t.deepEqual(kept(rig, LEFT), LEFT);
  t.true(rig.host.blocks.bytes.every((byte) => byte === 0xff));
});

test("the RPC mote.reset resets once the platform has its answer, and restarts", async (t) => {
  const { rig, agent } = await startFurnished(t);
  const marked: boolean[] = [];
  rig.platform.fault = ({ path }) => {
    if (!/rpc\/\d/.test(path)) return undefined;
    marked.push(rig.store.values.has("reset") || !rig.store.values.has("token"));
    return marked.length === 1 ? "drop" : undefined;
  };
  const results = await rig.call("mote.reset", { confirm: true }, 10_000);
  t.deepEqual(results, [{ kind: "answer", text: '{"reset":true}' }]);
  t.true(marked.length >= 2 && !marked.includes(true), "nothing is forgotten before");
  t.deepEqual(kept(rig, FORGOTTEN), []);
  t.deepEqual(rig.host.restarts, ["reset"]);
  t.deepEqual(details(rig, "restart"), [{ reason: "reset" }]);
  t.is(agent.state, "stopped");
});

test("resets without an acknowledgement once a held poll did not bring mote.reset again", async (t) => {
  const { rig } = await startFurnished(t);
  rig.platform.fault = ({ path }) => (/rpc\/\d/.test(path) ? "lose-answer" : undefined);
  const results = await rig.call("mote.reset", { confirm: true }, 10_000);
  t.deepEqual(results, [{ kind: "answer", text: '{"reset":true}' }]);
  t.deepEqual(rig.host.restarts, []);
  await rig.clock.advance(MINUTE);
  t.deepEqual(rig.host.restarts, ["reset"]);
  t.deepEqual(kept(rig, FORGOTTEN), []);
});

test("forgets nothing as long as the platform cannot have the answer to mote.reset", async (t) => {
  const { rig } = await startFurnished(t);
  const before = kept(rig, FORGOTTEN);
  let away = true;
  // Behind a proxy the platform stands still; polls end as they do before one that goes on.
  rig.platform.fault = ({ path, reply }) => {
    if (!away) return undefined;
    if (path.includes("timeout=")) rig.clock.timer(1000, () => reply(504));
    return path.includes("timeout=") ? "hang" : { status: 504 };
  };
  const results = await rig.call("mote.reset", { confirm: true }, 20 * MINUTE, { timeoutMs: 3_600_000 });
  t.deepEqual([kept(rig, FORGOTTEN), rig.host.restarts], [before, []]);
  away = false;
  await rig.clock.advance(10 * MINUTE);
  t.deepEqual(results, [{ kind: "answer", text: '{"reset":true}' }]);
  t.deepEqual(rig.host.restarts, ["reset"]);
});

test("without confirm the RPC mote.reset is answered BAD_PARAMS, and nothing happens", async (t) => {
  const { rig, agent } = await startOnline(t);
  for (const params of [undefined, null, {}, [], "confirm", { confirm: "true" }, { confirm: 1 }]) {
    const results = await rig.call("mote.reset", params ?? null, 2000);
    t.like(JSON.parse((results[0] as { text: string }).text), { error: { code: "BAD_PARAMS" } });
  }
  t.is(agent.state, "online");
  t.deepEqual(rig.host.restarts, []);
});

test("the RPC mote.reset waits for the end of a trial, as its restart would bring the image before back", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.host.slot.current = "pending";
  const results = await rig.call("mote.reset", { confirm: true }, 5000);
  t.regex((results[0] as { text: string }).text, /HANDLER_FAILED.*on trial/);
  t.is(agent.state, "online");
});

test("a store that does not take it leaves all as it was, and the agent goes on", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.store.fails = (_, key) => key === "reset";
  t.is(await codeOf(rig, agent.reset()), "STORE_FAILED");
  const results = await rig.call("mote.reset", { confirm: true }, 5000);
  t.is(results.length, 1);
  t.is(agent.state, "online");
  t.deepEqual(rig.host.restarts, []);
  t.deepEqual(kept(rig, ["token"]), ["token"]);
  t.true(rig.host.lines.some((line) => line.includes('could not store the value "reset"')));
});

for (const stays of ["wifi", "new-token", "token", "client", "rpc", "reset"]) {
  test(`a store that keeps "${stays}" holds the agent back, and the reset is completed once it lets go`, async (t) => {
    const { rig, agent, device } = await startFurnished(t);
    rig.store.fails = (call, key) => call === "delete" && key === stays;
    t.is(await codeOf(rig, agent.reset()), "STORE_FAILED");
    rig.platform.core.deleteDevice(device);
    const { length } = rig.platform.seen;
    agent.start();
    await rig.clock.advance(3 * MINUTE);
    t.is(rig.platform.seen.length, length, "no token is got that would be forgotten");
    t.is(rig.host.lines.filter((line) => line.includes("the reset is incomplete")).length, 1);
    rig.store.fails = undefined;
    await rig.clock.advance(MINUTE + 5000);
    t.is(agent.state, "online");
    t.false(rig.store.values.has("reset"));
  });
}

test("a token that was given stays, whatever else is given", async (t) => {
  const rig = startRig(t);
  rig.platform.create("given", "given-token");
  const agent = rig.agent({ token: "given-token" });
  agent.start();
  await rig.clock.advance(5000);
  t.is(await codeOf(rig, agent.reset()), undefined);
  agent.start();
  await rig.clock.advance(5000);
  t.is(agent.state, "online");
  t.is(rig.platform.seen.filter(({ path }) => path.endsWith("/provision")).length, 0);
});

test("flash that can't be erased makes a reset fail, and one that another version wrote is erased", async (t) => {
  const blocks = new FakeFlash(4 * 4096, 4096);
  const host = fakeHost({ blocks });
  blocks.write(0, Uint8Array.of(0x4d, 0x6f, 0x51, 0x0a, 9, 0xf6));
  const agent = new Agent(host, { baseUrl: "http://platform.test", token: "given-token" });
  blocks.fails = (call) => call === "erase";
  t.is(await codeOf(host, agent.reset()), "STORE_FAILED");
  t.true(host.store.values.has("reset"));
  blocks.fails = undefined;
  t.is(await codeOf(host, agent.reset()), undefined);
  t.true(blocks.bytes.every((byte) => byte === 0xff));
  t.false(host.store.values.has("reset"));
});
