// A board that sleeps between its samples: each wake a start of the whole board.
import test, { type ExecutionContext } from "ava";
import type { Machine } from "../../../hosts/esp32/board-hardware.js";
import { type Application, startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { FakeBoard } from "./board.js";

const NAME = "mote-240ac4000102";
const BEGAN = Date.UTC(2026, 6, 1);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const CONFIG = {
  baseUrl: "http://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
  cycle: { everyMs: MINUTE, connectEvery: 5, timeoutMs: 20_000 },
};

class Nights {
  readonly board: FakeBoard;
  readonly platform: FakePlatform;
  application: Application;
  n = 0;
  /** How much the sleeping clock gains. */
  fast = 0;
  /** When each sample was taken. */
  readonly at: number[] = [];

  constructor(t: ExecutionContext, config: Record<string, unknown> = CONFIG) {
    this.board = new FakeBoard(config);
    this.platform = new FakePlatform(this.board.clock, this.board.net);
    // The board has no time but the platform's.
    this.platform.dates = () => BEGAN + this.board.clock.now();
    this.board.time = undefined;
    this.board.onRadio = (radio) => {
      radio.onConnect = () =>
        void this.board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
    };
    this.application = () => () => {
      this.at.push(this.board.clock.now());
      return { n: this.n++ };
    };
    t.teardown(() => this.board.clock.advance(HOUR));
  }

  /** One wake, from a start to the next sleep. */
  async wake(machine: Machine = this.board.boot(1)): Promise<Agent | undefined> {
    const agent = startBoard(machine, this.application);
    await this.board.clock.runUntil(() => this.board.sleep !== undefined || this.board.restarts > 0, HOUR);
    return agent;
  }

  async deepSleep(): Promise<Agent | undefined> {
    return this.wake(await this.board.deepSleep(this.fast));
  }
}

test("the first wake joins, delivers and sleeps; those that only record never switch the radio on and write no NVS", async (t) => {
  const nights = new Nights(t);
  const { board } = nights;
  await nights.wake();
  t.is(board.joins.length, 1);
  t.is(board.radio?.closed, true);
  // A wake that is over makes a power cycle a slow one.
  await nights.deepSleep();
  const [writes, joins] = [board.nvsWrites, board.joins.length];
  let idle = 0;
  for (; board.joins.length === joins; idle++) {
    await nights.deepSleep();
    if (board.joins.length === joins) t.is(board.nvsWrites, writes);
  }
  t.true(idle >= 1 && idle <= 5, `${idle}`);
  t.is(nights.platform.points(nights.platform.device(NAME), "n").length, nights.n);
  for (let i = 0; i < 10; i++) await nights.deepSleep();
  t.is(board.joins.length, joins + 3);
  t.true(board.nvsWrites - writes <= 3, `${board.nvsWrites - writes} writes in all`);
});

test("with a clock that gains 5 % asleep time stamps stay within what it gained and in order, also when it is set back by minutes", async (t) => {
  const nights = new Nights(t, { ...CONFIG, cycle: { everyMs: MINUTE, connectEvery: 60 } });
  nights.fast = 0.05;
  await nights.wake();
  for (let i = 0; i < 200; i++) await nights.deepSleep();
  const points = nights.platform.points(nights.platform.device(NAME), "n");
  t.true(points.length >= 140, `${points.length}`);
  t.deepEqual(
    points.map(({ value }) => value),
    [...Array(points.length).keys()],
  );
  const errors = points.map(({ ts }, n) => Math.abs(ts - (BEGAN + (nights.at[n] ?? 0))));
  t.log(`worst ${Math.max(...errors)} ms, later ${Math.max(...errors.slice(130))} ms`);
  t.true(Math.max(...errors) > 65_000, "it is set back by more than lies between two samples");
  t.true(Math.max(...errors) <= 190_000);
  t.true(Math.max(...errors.slice(130)) <= 6000);
});

test("a power loss forgets what is kept asleep, and nothing else", async (t) => {
  const nights = new Nights(t);
  await nights.wake();
  await nights.deepSleep();
  await nights.deepSleep();
  nights.board.powerOff();
  await nights.wake(nights.board.boot(1));
  t.is(nights.board.joins.length >= 2, true, "the first wake after power-on connects");
  t.is(nights.platform.points(nights.platform.device(NAME), "n").length, nights.n);
});

test("an access point that is away, or never answers, leaves a wake time for the second network", async (t) => {
  for (const answers of [true, false]) {
    const second = { ssid: "shed", password: "another horse" };
    const cycle = { ...CONFIG.cycle, timeoutMs: 30_000 };
    const nights = new Nights(t, { ...CONFIG, cycle, wifi: { ...CONFIG.wifi, second } });
    const { board } = nights;
    board.onRadio = (radio) => {
      radio.onConnect = () => {
        const isThere = radio.asked.at(-1)!.SSID === second.ssid;
        if (answers || isThere)
          board.clock.timer(2000, () => radio.connection === 300 && radio.become(isThere ? 500 : 200));
      };
    };
    await nights.wake();
    t.deepEqual(
      board.joins.slice(0, 2).map(({ SSID }) => SSID),
      ["home", "shed"],
    );
    t.is(nights.platform.points(nights.platform.device(NAME), "n").length, 1, `answers: ${answers}`);
  }
});

test("an access point that is away costs a wake its deadline, and the attempts grow rare", async (t) => {
  const nights = new Nights(t);
  nights.board.onRadio = () => {};
  const took: number[] = [];
  for (let i = 0; i < 120; i++) {
    const began = nights.board.clock.now();
    await (i === 0 ? nights.wake() : nights.wake(await nights.board.deepSleep()));
    took.push(nights.board.clock.now() - began - (i === 0 ? 0 : MINUTE));
  }
  const attempts = took.filter((ms) => ms > -MINUTE + 1000 && ms > 10_000).length;
  t.true(nights.board.joins.length <= 12, `${nights.board.joins.length} joins`);
  t.true(attempts <= 12, `${attempts}`);
});

test("a board that crashed again and again stays within reach at each wake without its application, until an hour is over", async (t) => {
  const nights = new Nights(t);
  nights.application = () => {
    throw new Error("broken");
  };
  const { board } = nights;
  for (let i = 0; i < 5; i++) {
    t.throws(() => startBoard(board.boot(i === 0 ? 1 : 4), nights.application));
    board.powerOff();
  }
  let sampled = 0;
  nights.application = () => () => {
    sampled++;
    return { n: 1 };
  };
  await nights.wake(board.boot(4));
  t.is(sampled, 0);
  t.like(nights.platform.attributes(nights.platform.device(NAME)), { resetReason: "panic" });
  const joins = board.joins.length;
  for (let i = 0; i < 5; i++) await nights.deepSleep();
  t.is(board.joins.length, joins + 5);
  t.is(sampled, 0);
  for (let i = 0; i < 60; i++) await nights.deepSleep();
  t.true(sampled > 0);
});

test("whatever keeps a wake from its end, the board sleeps", async (t) => {
  const nights = new Nights(t);
  nights.application = (agent) => {
    Object.assign(agent, { runOnce: () => new Promise(() => {}) });
  };
  await nights.wake();
  t.truthy(nights.board.sleep);
  t.true(nights.board.clock.now() <= 610_000);
});

test("a wrong cycle is reported", async (t) => {
  for (const cycle of [5, { everyMs: 1 }, { timeoutMs: -1 }, { often: 1 }]) {
    const nights = new Nights(t, { ...CONFIG, cycle });
    t.is(startBoard(nights.board.boot(1), nights.application), undefined);
    t.true(
      nights.board.lines.some((line) => line.includes("cycle")),
      JSON.stringify(cycle),
    );
  }
});
