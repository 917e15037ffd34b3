import test from "ava";
import { FakeFlash } from "../../fakes/flash.js";
import { FakeStore } from "../../fakes/host.js";
import { at } from "../../fakes/time.js";
import { type Rig, rig, textOf, waitingStamps } from "./queue/rig.js";
import { NAME, startRig } from "./rig.js";

const T0 = 1_700_000_000_000;

function add({ outbox }: Rig, count: number): void {
  for (let n = 0; n < count; n++) outbox.append(textOf(n), undefined);
}

function isRising(stamps: (number | undefined)[]): boolean {
  return stamps.every((ts, i) => ts !== undefined && (i === 0 || ts > stamps[i - 1]!));
}

test("a clock set back by more than 5 s starts again and is logged", (t) => {
  const one = rig(new FakeFlash(0, 512), {}, undefined, T0);
  add(one, 1);
  one.host.clock.setWall(T0 - 60_000);
  add(one, 2);
  t.deepEqual(waitingStamps(one), [T0, T0 - 60_000, T0 - 59_999]);
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
  const stamps = waitingStamps(last);
  t.true(isRising(stamps), stamps.join());
  t.is(stamps.length, 10);
  t.deepEqual(stamps.slice(-2), [T0 + 3_600_000, T0 + 3_600_001]);
  t.true(last.time.guessed(3, 1, 500));
  t.false(last.time.guessed(3, 1, 6500));
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
  t.deepEqual(
    next.host.lines.filter((line) => line.includes("set back")),
    [],
  );
});

test("starts of boot epochs are stored for points that outlive a restart, and for no others", async (t) => {
  for (const [sectors, stored] of [
    [0, []],
    [4, ["boots"]],
  ] as const) {
    const store = new FakeStore();
    const one = rig(new FakeFlash(sectors * 4096, 4096), {}, store, null);
    add(one, 2);
    one.host.clock.setWall(T0);
    add(one, 1);
    t.deepEqual(
      store.changes.filter((key) => key !== "queue"),
      stored,
    );
  }
});

test("a host clock beyond the year 2099 counts as unknown", (t) => {
  const one = rig(new FakeFlash(0, 512), {}, undefined, Date.UTC(2287, 0, 1));
  add(one, 1);
  t.deepEqual(waitingStamps(one), [undefined]);
  one.host.clock.setWall(T0);
  t.deepEqual(waitingStamps(one), [T0]);
});

test("points that an older image stored with a year beyond 2286 get a time of this century, each its own", (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  const old = rig(blocks, {}, new FakeStore(), T0);
  const wrong = Date.UTC(9999, 0, 1);
  Object.assign(old.time, {
    next: () => Object.assign(old.time, { kind: 1, time: wrong + old.outbox.waiting }),
  });
  add(old, 5);
  const next = rig(new FakeFlash(blocks.size, 4096, blocks.bytes), {}, new FakeStore(), T0);
  add(next, 1);
  const stamps = waitingStamps(next);
  t.true(isRising(stamps), stamps.join());
  t.is(stamps[5], T0);
  t.true(stamps.every((ts) => ts! > T0 - 2 * 86_400_000));
});

const DATE = "Sun, 06 Nov 1994 08:49:37 GMT".replace("1994", "2022");
const MS = Date.UTC(2022, 10, 6, 8, 49, 37);

for (const baseUrl of ["http://platform.test", "https://platform.test"]) {
  test(`${baseUrl}: without a clock, points wait for a Date and get the time of their recording`, async (t) => {
    const rig = startRig(t);
    rig.clock.setWall(undefined);
    const agent = rig.agent({ baseUrl });
    agent.telemetry.record({ n: 0 });
    await rig.clock.advance(4000);
    agent.telemetry.record({ n: 1 });
    agent.start();
    await rig.clock.advance(60_000);
    t.deepEqual(rig.platform.points(rig.device, "n"), []);
    t.true(rig.host.lines.some((line) => line.includes("the time is not known yet")));
    const learnt = rig.clock.now();
    rig.platform.fault = (request) => {
      if (request.method !== "POST" || !request.path.endsWith("/rpc")) return undefined;
      request.reply(200, "{}", { Date: DATE });
      return "hang";
    };
    const answer = agent.rpc.call("time", {}, { timeoutMs: 5000 });
    await rig.clock.advance(5000);
    await answer;
    const points = rig.platform.points(rig.device, "n");
    t.deepEqual(
      points.map(({ value }) => value),
      [0, 1],
    );
    t.is(points[1]!.ts - points[0]!.ts, 4000);
    t.true(Math.abs(points[0]!.ts - (MS - learnt)) < 2000, `${points[0]!.ts}`);
  });
}

test("a wake of an agent that knows the time does not forget it, though the host never knew", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.telemetry.record({ n: 0 });
  agent.start();
  await rig.clock.advance(5000);
  rig.clock.setWall(undefined);
  await Promise.all([agent.stop(), rig.clock.advance(1000)]);
  const wake = agent.runOnce({ connect: true, sample: () => ({ n: 1 }) });
  await rig.clock.advance(31_000);
  await wake;
  agent.start();
  agent.telemetry.record({ n: 2 });
  await rig.clock.advance(60_000);
  const points = rig.platform.points(rig.device, "n");
  t.deepEqual(
    points.map(({ value }) => value),
    [0, 1, 2],
  );
});

for (const year of ["2287", "9999", "2100"])
  test(`a Date of the year ${year} is not taken for the time: points wait for a Date that can be right`, async (t) => {
    const rig = startRig(t);
    rig.clock.setWall(undefined);
    let date = "Wed, 01 Jun 2022 00:00:00 GMT".replace("2022", year);
    rig.platform.fault = (request) => {
      if (request.method !== "POST" || !request.path.endsWith("/rpc")) return undefined;
      request.reply(200, "{}", { Date: date });
      return "hang";
    };
    const agent = rig.agent();
    const call = async () => {
      const answer = agent.rpc.call("time", {}, { timeoutMs: 5000 });
      await rig.clock.advance(5000);
      await answer;
    };
    agent.start();
    for (let n = 0; n < 50; n++) agent.telemetry.record({ n });
    await call();
    const { points, device } = rig.platform;
    const stored = () => points.call(rig.platform, device.call(rig.platform, NAME), "n");
    t.deepEqual(stored(), []);
    t.is(agent.platformTime, undefined);
    date = "Wed, 01 Jun 2022 00:00:00 GMT";
    await call();
    await rig.clock.advance(60_000);
    t.deepEqual(
      stored().map(({ value }) => value),
      Array.from({ length: 50 }, (_, n) => n),
    );
    t.true(stored().every(({ ts }) => Math.abs(ts - Date.UTC(2022, 5, 1)) < 60_000));
    t.deepEqual(agent.telemetry.dropped, { full: 0, refused: 0, unreadable: 0 });
  });
