// Five crashes in ten minutes, on in-memory hosts that share a store.
import test from "ava";
import { Recovery } from "../../../../src/board-module.js";
import type { Agent, LastRun } from "../../../../src/index.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { type FakeHost, FakeStore, fakeHost } from "../../../fakes/host.js";
import { storedBytes, storedJson } from "../../../fakes/stored.js";
import { test as inModes, startRig } from "../rig.js";

const MINUTE = 60_000;

/** A device that is started again and again. */
class Starts {
  readonly clock = new FakeClock();
  readonly store = new FakeStore();
  readonly slot = new FakeSlot(64 * 4096, 4096);
  host!: FakeHost;
  recovery: Recovery | undefined;
  image = "1.0.0";

  start(crash?: LastRun["crash"], crashes?: number, powered?: boolean): Recovery {
    this.recovery = new Recovery(this.boot(crash, crashes, powered), this.image);
    return this.recovery;
  }

  /** The host of a new start. */
  boot(crash?: LastRun["crash"], crashes?: number, powered?: boolean): FakeHost {
    this.recovery?.cancelTimers();
    this.host = fakeHost({ clock: this.clock, store: this.store, slot: this.slot });
    const lastRun = crash === undefined ? undefined : { reset: "start", crash, crashes, powered };
    return Object.assign(this.host, { lastRun });
  }

  /** Whether a start by power asks for the setup page. */
  asks(): boolean {
    return Recovery.takeSetupRequest(this.boot(false, 0, true));
  }

  /** Somebody switches it on `times` times, for `ms` each. */
  async switchOn(times: number, ms = 9000): Promise<Recovery> {
    for (let i = 0; i < times; i++) {
      this.start(false, 0, true);
      await this.clock.advance(ms);
    }
    return this.recovery as Recovery;
  }

  /**
   * Another image is on trial for a moment: whether it, and then this one, starts in recovery mode.
   */
  tryImage(): boolean[] {
    this.slot.current = "pending";
    this.image = "2.0.0";
    const onTrial = this.start(false).active;
    this.slot.current = "confirmed";
    this.image = "1.0.0";
    return [onTrial, this.start("TypeError").active];
  }

  /** Runs for `ms` and ends by a crash. */
  async crash(times: number, ms = 1000): Promise<Recovery> {
    for (let i = 0; i < times; i++) {
      if (!this.recovery) this.start(false);
      await this.clock.advance(ms);
      this.start("TypeError");
    }
    return this.recovery as Recovery;
  }
}

test("four crashes are none too many, the fifth in ten minutes starts recovery mode with its cause", async (t) => {
  const starts = new Starts();
  t.false((await starts.crash(4)).active);
  t.is(starts.recovery?.cause, "");
  t.true((await starts.crash(1)).active);
  t.is(starts.recovery?.cause, "TypeError");
});

test("crashes are forgotten after ten minutes, with the timer: any number 2 min 30 s apart is too few", async (t) => {
  const starts = new Starts();
  t.false((await starts.crash(30, 2.5 * MINUTE)).active);
  await starts.clock.advance(10 * MINUTE);
  t.is(starts.clock.waiting, 0);
  t.false((await starts.crash(4)).active);
});

test("a device that is not crashing writes nothing", async (t) => {
  const starts = new Starts();
  starts.start(false);
  await starts.clock.advance(20 * MINUTE);
  starts.start(false);
  t.deepEqual(starts.store.changes, []);
});

test("where the machine can't say, every end counts that the agent did not ask for", (t) => {
  const starts = new Starts();
  for (let i = 0; i < 5; i++) t.false(starts.start().active, `start ${i}`);
  t.true(starts.start().active);
  t.is(starts.recovery?.cause, "unknown");
});

test("recovery mode lasts an hour of running, over restarts, and ends by a restart with the application", async (t) => {
  const starts = new Starts();
  await starts.crash(5);
  for (let i = 0; i < 3; i++) {
    await starts.clock.advance(15 * MINUTE);
    t.true(starts.start(false).active);
  }
  await starts.clock.advance(14 * MINUTE);
  t.deepEqual(starts.host.restarts, []);
  await starts.clock.advance(2 * MINUTE);
  t.deepEqual(starts.host.restarts, ["recovery"]);
  t.false(starts.start(false).active);
  t.false((await starts.crash(4)).active, "it takes five crashes again");
});

test("three power cycles within ten seconds each ask for the setup page, once, and start no recovery mode", async (t) => {
  const starts = new Starts();
  t.false((await starts.switchOn(3)).active);
  t.false(Recovery.takeSetupRequest(starts.boot(false)), "a restart is no gesture");
  t.true(starts.asks());
  t.false(starts.asks());
  t.false((await starts.switchOn(2)).active);
  t.false(starts.asks(), "it takes three again");
  t.false((await starts.switchOn(9)).active);
  t.true(starts.asks());
});

test("a supply that fails every few seconds can't hold a board in recovery mode", async (t) => {
  const starts = new Starts();
  t.true((await starts.crash(5)).active);
  let left = 0;
  while ((await starts.switchOn(1, 5000)).active) if (++left > 200) break;
  t.is(left, 119);
});

test("a store that refuses any one write of quick power cycles delays the setup page, and nothing else", async (t) => {
  for (let at = 0; at < 4; at++) {
    const starts = new Starts();
    let changes = 0;
    starts.store.fails = () => changes++ === at;
    let isAsked = false;
    for (let i = 0; i < 6; i++) {
      isAsked ||= starts.asks();
      t.false((await starts.switchOn(1, 1000)).active);
    }
    t.true(isAsked, `write ${at}`);
  }
});

test("an image on trial runs with its application, and its crash does not count for the one before it", async (t) => {
  const starts = new Starts();
  await starts.crash(4);
  t.deepEqual(starts.tryImage(), [false, false]);
  t.true((await starts.crash(1)).active);
});

test("an image that comes back from a trial in recovery mode is in it still", async (t) => {
  const starts = new Starts();
  await starts.crash(5);
  t.deepEqual(starts.tryImage(), [false, true]);
});

test("what is stored is bounded, whatever the cause, and what makes no sense is taken for nothing", async (t) => {
  const starts = new Starts();
  for (let i = 0; i < 6; i++) starts.start("x".repeat(100_000));
  t.is(starts.recovery?.cause.length, 200);
  const crashed = {
    image: "1.0.0",
    ages: [0],
    leftMs: 0,
    cause: "y",
    restartExpected: false,
    reported: false,
    cycles: 0,
  };
  for (const [text, left] of [
    ["[]", crashed],
    ["{}", crashed],
    ['{"image":1}', crashed],
    ["{", crashed],
    [
      '{"image":"1.0.0","ages":[1e4,"7",null,{}],"leftMs":"1","restartExpected":1,"reported":1}',
      { ...crashed, ages: [1e4, 0] },
    ],
  ] as const) {
    starts.store.values.set("recovery", storedBytes(text));
    starts.start("y");
    t.deepEqual(storedJson(starts.store.get("recovery")!), left, text);
  }
  // Whatever is stored, nobody is kept from the application for longer than an hour.
  const endless = '{"image":"1.0.0","ages":"x","leftMs":1e99,"cause":7,"cycles":"x"}';
  starts.store.values.set("recovery", storedBytes(endless));
  const recovery = starts.start("y");
  t.deepEqual([recovery.active, recovery.cause], [true, ""]);
  await starts.clock.advance(61 * MINUTE);
  t.deepEqual(starts.host.restarts, ["recovery"]);
});

inModes("in recovery mode the cause is published, and the RPC mote.restart restarts or leaves", async (t) => {
  const rig = startRig(t);
  let agent: Agent | undefined;
  /** The next start, after the one before was stopped. Whether it is in recovery mode. */
  const start = async (crash: string | false): Promise<boolean> => {
    await Promise.all([agent?.stop(), rig.clock.advance(0)]);
    agent = rig.agent({ firmware: { title: "lamp", version: "1.0.0" } });
    const recovery = new Recovery({ ...rig.host, lastRun: { reset: "start", crash } }, "1.0.0");
    t.teardown(() => recovery.cancelTimers());
    recovery.attach(agent);
    agent.start();
    return recovery.active;
  };
  await start(false);
  await rig.clock.advance(10_000);
  t.false("moteRecovery" in rig.platform.attributes(rig.device), "there was none yet");
  for (let i = 0; i < 4; i++) t.false(await start("TypeError"));
  t.true(await start("RangeError"));
  await rig.clock.advance(10_000);
  const { device } = rig;
  t.is(rig.platform.attributes(device).moteRecovery, "RangeError");
  for (const [params, stays] of [
    [{}, true],
    [{ application: true }, false],
  ] as const) {
    const results = await rig.call("mote.restart", params, 10_000);
    t.is(results[0]?.kind, "answer");
    t.deepEqual(rig.host.restarts, ["recovery"]);
    t.is(await start(false), stays);
    await rig.clock.advance(10_000);
  }
  t.is(rig.platform.attributes(device).moteRecovery, "");
});
