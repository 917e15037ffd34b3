// What of a device's health outlives a restart: bounded, whatever is noted, whatever was stored, and however often it is written.
import test from "ava";
import { Diagnostics } from "../../../extras/diagnostics/index.js";
import { HealthRecord } from "../../../extras/diagnostics/record.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeAgent } from "./fake-agent.js";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEY = "health";

test("the last sixteen codes are kept, the latest last, each with how often it was seen", (t) => {
  const record = new HealthRecord(fakeHost());
  for (let n = 0; n < 20; n++) record.note(`busy ${500 + n}`, n);
  t.false(record.note("busy 510", 99));
  t.is(record.errors.length, 16);
  t.deepEqual(record.errors[0], { code: "busy 504", times: 1, at: 4 });
  t.deepEqual(record.errors.at(-1), { code: "busy 510", times: 2, at: 99 });
});

test("what is stored is read again, and what makes no sense is taken for nothing", (t) => {
  const host = fakeHost();
  const record = new HealthRecord(host);
  record.publishedAt = 1_767_225_600_000;
  record.started("power on");
  record.started("power on");
  record.note("lost", 1_767_225_600);
  t.true(record.keep());
  const again = new HealthRecord(host);
  t.deepEqual(
    [again.publishedAt, again.resets, again.errors],
    [record.publishedAt, record.resets, record.errors],
  );
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"at":-1,"resets":7,"errors":{"0":1}}',
    '{"at":1e400,"resets":[null,[7,7],["x"]],"errors":[["y",1.5,-7],[]]}',
    `{"errors":[["${"z".repeat(4000)}",1,1]]}`,
    `{"errors":${JSON.stringify(Array(200).fill(["q", 1, 1]))}}`,
  ]) {
    host.store.values.set(KEY, new Uint8Array([1, ...new TextEncoder().encode(text)]));
    const read = new HealthRecord(host);
    t.true(read.errors.length <= 16 && read.resets.length <= 16, text.slice(0, 40));
    t.notThrows(() => read.keep());
  }
  host.store.values.set(KEY, Uint8Array.of(9, 0xff, 0xfe));
  t.is(new HealthRecord(host).errors.length, 0);
});

test("the value stays below 1.3 KB, whatever reasons and codes there are", (t) => {
  const host = fakeHost();
  const record = new HealthRecord(host);
  record.publishedAt = Date.UTC(2099, 0, 1);
  for (let n = 0; n < 100; n++) record.started(`${"ä".repeat(4)}${n}${"r".repeat(200)}`);
  for (let n = 0; n < 100; n++)
    for (let i = 0; i < 20; i++) record.note(`refused provisioning ${n}`, 4_070_908_800);
  t.true(record.keep());
  t.is(record.resets.length, 16);
  t.true((host.store.get(KEY)?.length ?? 0) <= 1300 + 200, String(host.store.get(KEY)?.length));
});

test("a day of new codes every second takes 168 writes at the most, and a quiet one 24", async (t) => {
  for (const [codes, most] of [
    [true, 168],
    [false, 24],
  ] as const) {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const host = fakeHost({ clock });
    const agent = new FakeAgent();
    const diagnostics = new Diagnostics(agent, host);
    for (let at = 0; at < DAY; at += 1000) {
      agent.counters.roundTrips++;
      if (codes) agent.emit("error", { code: `busy ${at / 1000}` });
      else agent.emit("error", { code: "lost" });
      await clock.advance(1000);
    }
    const writes = host.store.changes.filter((key) => key === KEY).length;
    t.true(writes <= most + 2, `${writes} writes`);
    t.true(agent.published.length <= 24);
    diagnostics.close();
  }
});

const POWER_ON = { reset: "power on", crash: false } as const;

test("a start takes one write if it is counted, and a wake from sleep none", (t) => {
  const host = fakeHost({ lastRun: POWER_ON });
  new Diagnostics(new FakeAgent(), host).close();
  t.deepEqual(host.store.changes, [KEY]);
  const woken = { ...host, lastRun: { reset: "deep sleep", crash: false as const, sleptMs: 60_000 } };
  for (let n = 0; n < 100; n++) new Diagnostics(new FakeAgent(), woken).close();
  t.deepEqual(host.store.changes, [KEY]);
});

test("what was noted shortly before a restart that the agent asks for is stored", (t) => {
  const host = fakeHost();
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host);
  agent.emit("error", { code: "lost" });
  agent.emit("error", { code: "fw selfTest" });
  agent.emit("restart", { reason: "firmware" });
  diagnostics.close();
  t.deepEqual(
    new HealthRecord(host).errors.map(({ code }) => code),
    ["lost", "fw selfTest"],
  );
});

test("a store that takes nothing is reported, and harms nothing", async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const host = fakeHost({ clock, lastRun: { reset: "panic", crash: "any" } });
  host.store.fails = () => true;
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host);
  agent.emit("error", { code: "lost" });
  await clock.advance(3 * HOUR);
  t.is(agent.published.length, 1);
  t.like(diagnostics.health, { resets: { panic: 1 }, errors: [{ code: "lost" }] });
  t.true(host.lines.length > 0 && host.lines.length < 10);
  diagnostics.close();
});

test("attributes that leave no room are no failure: it is tried again an hour later, and the RPC has all", async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const host = fakeHost({ clock });
  const agent = new FakeAgent();
  agent.onPublish = () => {
    throw new Error("no room");
  };
  const diagnostics = new Diagnostics(agent, host);
  await clock.advance(3 * HOUR);
  t.is(host.lines.length, 3);
  agent.onPublish = () => {};
  await clock.advance(HOUR);
  t.is(agent.published.length, 1);
  diagnostics.close();
});

test("the answer of mote.health is no longer than the agent's limit: older codes give way", (t) => {
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, fakeHost({ lastRun: POWER_ON }));
  for (let n = 0; n < 30; n++) agent.emit("error", { code: `refused ${400 + n}` });
  t.is((agent.handler(null) as { errors: unknown[] }).errors.length, 16);
  agent.rpc.answerBytes = 512;
  const { errors } = agent.handler(null) as { errors: { code: string }[] };
  t.true(errors.length > 0 && errors.length < 16);
  t.is(errors.at(-1)?.code, "refused 429");
  t.true(JSON.stringify(agent.handler(null)).length <= 512);
  diagnostics.close();
});

test("memory is looked at once a minute, and the least is kept", async (t) => {
  const clock = new FakeClock(undefined);
  let free = 1000;
  const diagnostics = new Diagnostics(new FakeAgent(), fakeHost({ clock }), { freeMemory: () => free });
  await clock.advance(MINUTE);
  free = 10;
  await clock.advance(MINUTE);
  free = 500;
  await clock.advance(MINUTE);
  t.is(diagnostics.health.leastFree, 10);
  diagnostics.close();
});
