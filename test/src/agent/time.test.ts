import test, { type ExecutionContext } from "ava";
import { Time } from "../../../src/agent/time/time.js";
import type { AgentOptions } from "../../../src/index.js";
import { FakeFlash } from "../../fakes/flash.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";
import { at } from "../../fakes/time.js";
import { type Rig, rig, textOf, waitingStamps } from "./queue/rig.js";
import { startOnline, startRig } from "./rig.js";
import { upTo } from "./telemetry/rig.js";

const T0 = 1_700_000_000_000;

function add({ outbox }: Rig, count: number): void {
  for (let n = 0; n < count; n++) outbox.append(textOf(n), undefined);
}

function isRising(stamps: (number | undefined)[]): boolean {
  return stamps.every((ts, i) => ts !== undefined && (i === 0 || ts > stamps[i - 1]!));
}

test("a clock set back by more than 30 s starts again and is logged", (t) => {
  const one = rig(new FakeFlash(0, 512), {}, undefined, T0);
  add(one, 1);
  one.host.clock.setWall(T0 - 60_000);
  add(one, 2);
  t.deepEqual(waitingStamps(one), [T0 - 60_000, T0 - 59_999, T0 - 59_998]);
  t.is(one.host.lines.filter((line) => line.includes("set back by 60 s")).length, 1);
});

test("the platform's time is not used when the host knows the time", (t) => {
  const one = rig(new FakeFlash(0, 512), {}, undefined, T0);
  one.time.learn(at(T0 + 99_000));
  t.is<unknown, unknown>(one.time.now(), T0);
});

test("starts that never knew the time end where the next begins, in order, and are known as guesses", async (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  add(rig(blocks, {}, store, T0), 2);
  let flash = blocks;
  for (let start = 0; start < 3; start++) {
    flash = new FakeFlash(flash.size, 4096, flash.bytes);
    const blind = rig(flash, {}, store, null);
    await blind.host.clock.advance(1000);
    add(blind, 2);
  }
  flash = new FakeFlash(flash.size, 4096, flash.bytes);
  const last = rig(flash, {}, store, null);
  await last.host.clock.advance(3000);
  add(last, 1);
  last.time.learn(at(T0 + 3_600_000));
  add(last, 1);
  const guesses: boolean[] = [];
  const stamps = waitingStamps(last, guesses);
  t.true(isRising(stamps), stamps.join());
  t.is(stamps.length, 10);
  t.deepEqual(stamps.slice(-2), [T0 + 3_600_000, T0 + 3_600_001]);
  t.deepEqual(guesses, [false, false, true, true, true, true, true, true, false, false]);
});

test("if the store fails, the boot epoch stays open, and a restart finds the order unchanged", (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  const first = rig(blocks, {}, store, null);
  add(first, 2);
  store.fails = (call) => call === "set";
  first.time.learn(at(T0));
  add(first, 2);
  t.true(isRising(waitingStamps(first)));
  store.fails = undefined;
  const second = rig(new FakeFlash(blocks.size, 4096, blocks.bytes), {}, store, T0 + 60_000);
  add(second, 2);
  t.true(isRising(waitingStamps(second)), waitingStamps(second).join());
});

test("a boot epoch that seems to begin within the last burst begins behind it", async (t) => {
  const blocks = new FakeFlash(80 * 4096, 4096);
  const store = new FakeStore();
  add(rig(blocks, {}, store, T0), 5000);
  const next = rig(new FakeFlash(blocks.size, 4096, blocks.bytes), {}, store, null);
  add(next, 2);
  next.time.learn(at(T0 + 1000));
  add(next, 2);
  t.true(isRising(waitingStamps(next)));
  t.false(next.host.lines.some((line) => line.includes("set back")));
});

/**
 * A host without a clock that learns `dates` from the platform, one after the other, and records a
 * point each second.
 */
async function learns(dates: readonly number[], points: number) {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  const one = rig(blocks, {}, store, null);
  for (const date of dates) {
    one.time.learn(at(date));
    for (let n = 0; n < points; n++) {
      one.outbox.append(textOf(n), undefined);
      await one.host.clock.advance(1000);
    }
  }
  return { blocks, store, one };
}

for (const [name, wrong] of [
  ["in 2001", Date.UTC(2001, 8, 10)],
  ["in 2099", Date.UTC(2099, 0, 1)],
  ["two hours ahead", T0 + 7_200_000],
] as const)
  test(`a first Date ${name} does not decide the run: points that wait take the next one`, async (t) => {
    const { one, blocks, store } = await learns([wrong, T0 + 10_000], 10);
    const expected = upTo(20).map((n) => T0 + 1000 * n);
    const stamps = waitingStamps(one);
    t.true(
      stamps.every((ts, i) => Math.abs(ts! - expected[i]!) <= 1000),
      stamps.join(),
    );
    // The correction is stored before a point is sent by it.
    const next = rig(new FakeFlash(blocks.size, 4096, blocks.bytes), {}, store, null);
    t.deepEqual(waitingStamps(next), stamps);
  });

test("a correction by less than 30 s moves no time stamp behind one that was sent", async (t) => {
  const { one } = await learns([T0 + 4000], 10);
  const sent = waitingStamps(one);
  one.outbox.confirm(one.outbox.next);
  one.time.learn(at(T0 + 10_000));
  const later: (number | undefined)[] = [];
  for (let n = 0; n < 10; n++) {
    add(one, 1);
    later.push(...waitingStamps(one));
    one.outbox.confirm(one.outbox.next);
    await one.host.clock.advance(1000);
  }
  t.true(isRising([...sent, ...later]), [...sent, ...later].join());
  t.true(Math.abs(later.at(-1)! - (T0 + 19_000)) <= 1000, `${later.at(-1)}`);
});

test("a point is not sent by a time that neither flash nor store holds", (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  const one = rig(blocks, {}, store, null);
  add(one, 2);
  blocks.fails = (call) => call !== "read";
  store.fails = (call) => call === "set";
  one.time.learn(at(T0));
  t.deepEqual(waitingStamps(one), [undefined, undefined]);
  store.fails = undefined;
  one.outbox.saveAll();
  t.true(isRising(waitingStamps(one)), waitingStamps(one).join());
});

test("time stamps rise over restarts, whatever the store holds", async (t) => {
  let flash = new FakeFlash(8 * 4096, 4096);
  const stamps: (number | undefined)[] = [];
  for (let start = 0; start < 5; start++) {
    const one = rig(flash, {}, new FakeStore(), null);
    one.time.learn(at(T0 + start * 1000));
    add(one, 3);
    await one.host.clock.advance(1000);
    stamps.push(...waitingStamps(one));
    one.outbox.confirm(one.outbox.next);
    flash = new FakeFlash(flash.size, 4096, flash.bytes);
  }
  t.true(isRising(stamps), stamps.join());
});

/** Sends and confirms all points, so that a later correction begins an epoch. */
function deliver(one: Rig): void {
  waitingStamps(one);
  one.outbox.confirm(one.outbox.next);
}

/** Records a point a second for `seconds`. */
async function addEachSecond(one: Rig, seconds: number): Promise<void> {
  for (let n = 0; n < seconds; n++) {
    add(one, 1);
    await one.host.clock.advance(1000);
  }
}

const again = (blocks: FakeFlash, store: FakeStore) =>
  rig(new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes), {}, store, null);

test("time stamps of points that were delivered from memory are not used after an orderly end", (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  const one = rig(blocks, { durable: false }, store, T0);
  add(one, 5);
  deliver(one);
  t.is(one.outbox.saveAll(), 0);
  const next = rig(new FakeFlash(blocks.size, 4096, blocks.bytes), { durable: false }, store, T0 - 1000);
  add(next, 2);
  t.deepEqual(waitingStamps(next), [T0 + 5, T0 + 6]);
});

test("a clock step between two points that are not on flash yet shifts neither", async (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const store = new FakeStore();
  const one = rig(blocks, { durable: false }, store, T0);
  add(one, 1);
  deliver(one);
  await one.host.clock.advance(5000);
  add(one, 1);
  await one.host.clock.advance(900);
  one.host.clock.setWall(T0 + 6400);
  add(one, 1);
  one.outbox.sync();
  add(one, 1);
  const stamps = waitingStamps(one);
  t.deepEqual(stamps, [T0 + 5000, T0 + 6400, T0 + 6401]);
  one.outbox.sync();
  t.deepEqual(waitingStamps(again(blocks, store)), stamps);
});

for (const [name, step] of [
  ["10 s ahead", 10_000],
  ["40 s ahead", 40_000],
] as const)
  test(`a clock step ${name} while flash fails shifts no point by the time of the failure`, async (t) => {
    const blocks = new FakeFlash(64 * 512, 512);
    const store = new FakeStore();
    const one = rig(blocks, {}, store, T0);
    await addEachSecond(one, 5);
    deliver(one);
    blocks.fails = (call) => call !== "read";
    await addEachSecond(one, 10);
    one.host.clock.setWall(T0 + 15_000 + step);
    await addEachSecond(one, 25);
    blocks.fails = undefined;
    await addEachSecond(one, 25);
    const guesses: boolean[] = [];
    const stamps = waitingStamps(one, guesses);
    t.deepEqual(
      stamps,
      upTo(60).map((n) => T0 + step + 5000 + 1000 * n),
    );
    t.false(guesses.includes(true));
    t.deepEqual(waitingStamps(again(blocks, store)), stamps);
    t.false(
      one.host.lines.some((line) => line.includes("set back")),
      one.host.lines.join("\n"),
    );
  });

test("points recorded while the queue cannot be read keep their time", async (t) => {
  const store = new FakeStore();
  let flash = new FakeFlash(8 * 4096, 4096);
  const expected: number[] = [];
  for (let start = 0; start < 4; start++) {
    const wall = T0 + start * 3_600_000;
    const isLast = start === 3;
    if (isLast) flash.fails = (call) => call === "read";
    const one = rig(flash, {}, store, wall);
    await addEachSecond(one, 2);
    if (isLast) expected.push(wall, wall + 1000);
    if (isLast) {
      flash.fails = undefined;
      await one.host.clock.advance(60_000);
      add(one, 1);
      expected.push(wall + 62_000);
      t.deepEqual(waitingStamps(one), expected);
      one.outbox.saveAll();
      t.deepEqual(waitingStamps(again(flash, store)), expected);
    }
    flash = new FakeFlash(flash.size, 4096, flash.bytes);
  }
});

test("a host clock beyond the year 2099 counts as unknown", (t) => {
  const one = rig(new FakeFlash(0, 512), {}, undefined, Date.UTC(2287, 0, 1));
  add(one, 1);
  t.deepEqual(waitingStamps(one), [undefined]);
  one.host.clock.setWall(T0);
  t.deepEqual(waitingStamps(one), [T0]);
});

const MS = Date.UTC(2022, 10, 6, 8, 49, 37);

/** A device without a clock. `ask`: a call of the application, whose answer has this Date. */
function clockless(t: ExecutionContext, options: Partial<AgentOptions> = {}) {
  const rig = startRig(t);
  rig.clock.setWall(undefined);
  const agent = rig.agent(options);
  const ask = async (date: string): Promise<void> => {
    rig.platform.fault = ({ method, path, reply }) => {
      if (method !== "POST" || !path.endsWith("/rpc")) return undefined;
      reply(200, "{}", { Date: date });
      return "hang";
    };
    await rig.clock.untilSettled(agent.rpc.call("time", {}, { timeoutMs: 5000 }), 5000);
    await rig.clock.advance(5000);
  };
  return { rig, agent, ask };
}

for (const baseUrl of ["http://platform.test", "https://platform.test"]) {
  test(`${baseUrl}: without a clock, points wait for a Date and get the time of their recording`, async (t) => {
    const { rig, agent, ask } = clockless(t, { baseUrl });
    agent.telemetry.record({ n: 0 });
    await rig.clock.advance(4000);
    agent.telemetry.record({ n: 1 });
    agent.start();
    await rig.clock.advance(60_000);
    t.deepEqual(rig.values("n"), []);
    t.true(rig.host.lines.some((line) => line.includes("the time is not known yet")));
    const learnt = rig.clock.now();
    await ask(new Date(MS).toUTCString());
    const [first, second] = rig.platform.points(rig.device, "n");
    t.deepEqual([first?.value, second], [0, { ts: first!.ts + 4000, value: 1 }]);
    t.true(Math.abs(first!.ts - (MS - learnt)) < 2000, `${first!.ts}`);
  });
}

test("a wake of an agent that knows the time does not forget it, though the host never knew", async (t) => {
  const { rig, agent } = await startOnline(t);
  agent.telemetry.record({ n: 0 });
  await rig.clock.advance(5000);
  rig.clock.setWall(undefined);
  await Promise.all([agent.stop(), rig.clock.advance(1000)]);
  await rig.clock.untilSettled(agent.runOnce({ connect: true, sample: () => ({ n: 1 }) }), 31_000);
  agent.start();
  agent.telemetry.record({ n: 2 });
  await rig.clock.advance(60_000);
  t.deepEqual(rig.values("n"), [0, 1, 2]);
});

for (const year of ["2287", "9999", "2100"])
  test(`points do not take a Date of the year ${year} for the time, and wait for a plausible one`, async (t) => {
    const { rig, agent, ask } = clockless(t);
    agent.start();
    for (let n = 0; n < 50; n++) agent.telemetry.record({ n });
    await ask(`Wed, 01 Jun ${year} 00:00:00 GMT`);
    t.deepEqual([rig.values("n"), agent.platformTime], [[], undefined]);
    await ask(new Date(MS).toUTCString());
    await rig.clock.advance(60_000);
    t.deepEqual(rig.values("n"), upTo(50));
    t.true(rig.platform.points(rig.device, "n").every(({ ts }) => Math.abs(ts - MS) < 60_000));
    t.deepEqual(agent.telemetry.dropped, { full: 0, refused: 0, unreadable: 0 });
  });

for (const restarts of [true, false])
  test(`sleeps leave the start of an epoch alone, with a clock that ${restarts ? "restarts" : "runs on"}`, (t) => {
    const memory = { endedAt: 0, ticks: 0, exactFrom: -1, syncedAt: 0, sinceSyncMs: 0, rate: 0.9998 };
    let ms = 0;
    const clock = { now: () => ms, wall: () => undefined, timer: () => () => undefined };
    const starts: (number | undefined)[] = [];
    for (let wake = 0; wake < 10; wake++) {
      const time = new Time({ ...fakeHost(), clock });
      time.wake(memory, wake === 0 ? 0 : 59_997);
      if (wake === 0) time.learn(at(T0));
      starts.push(time.startOf(time.ticks));
      ms += 83;
      time.sleep(memory, 83);
      ms = restarts ? 0 : ms + 59_997;
    }
    t.deepEqual(
      starts,
      starts.map(() => T0),
    );
  });
