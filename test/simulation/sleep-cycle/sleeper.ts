// A device that sleeps for most of a long time, with a clock that runs wrong meanwhile, and a world
// in which platform, network and power come and go. Everything in one event queue: a seed is the
// same run each time.

import { Agent, type Wake } from "../../../src/index.js";
import type { Device } from "../../../tools/platform/core/devices.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform, type Fault, KEY, SECRET } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";
import { type PowerCycle, SimulatedDevice } from "../device.js";
import { Dice } from "../dice.js";

export const NAME = "meadow-1";
const WALL = Date.UTC(2026, 0, 1);
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
/** From the timer to the first line of the program, in which the sleeping clock runs on. */
const BOOT_MS = 350;
const LATENCY_MS = 40;

/** The sleeping clock: so much wrong at its worst, with the temperature of day and night on top. */
export const DRIFT = 0.05;
const DAILY_DRIFT = 0.003;

export interface SleeperOptions {
  readonly seed: number;
  readonly cycle: { readonly everyMs: number; readonly connectEvery: number };
  /** Power losses, and outages of the platform, a month on average. */
  readonly powerLossesAMonth: number;
  readonly outagesAMonth: number;
  /** Whether the machine can measure how long it slept. */
  readonly measures: boolean;
}

/** A point that the application recorded, and when. */
interface Recorded {
  readonly at: number;
  /** `record` had not returned when the power went. */
  unsure: boolean;
}

type Outage = (request: SeenRequest) => Fault;
const OUTAGES: readonly Outage[] = [
  () => "drop",
  () => "hang",
  () => ({ status: 503 }),
  ({ method }) => (method === "POST" ? "lose-answer" : undefined),
  ({ method }) => (method === "POST" ? { status: 500 } : undefined),
  () => ({ status: 302 }),
];

export class Sleeper {
  readonly dice: Dice;
  readonly clock = new FakeClock(WALL);
  readonly net = new FakeNet(this.clock, { latencyMs: LATENCY_MS });
  readonly platform: FakePlatform;
  readonly body = new SimulatedDevice(this, 64, 1);
  readonly points: Recorded[] = [];
  /** In the order of arrival, each for the first time; the time stamp on the platform. */
  readonly arrived = new Map<number, number>();
  readonly problems: string[] = [];
  /** When the device learnt the time of day, and when its power was off. */
  readonly clockSet: number[] = [];
  readonly off: { readonly from: number; readonly to: number }[] = [];
  readonly rpcs: { readonly until: number; readonly results: readonly { kind: string }[] }[] = [];
  readonly counts = { wakes: 0, connected: 0, radioMs: 0, awakeMs: 0, powerLosses: 0, requests: 0 };
  /** The longest wake. */
  longestMs = 0;
  /** Most store changes in a wake that only recorded, except the queue's high-water mark. */
  idleWrites = 0;
  powerCycles = 0;
  seen: unknown;
  readonly #options: SleeperOptions;
  readonly #drift: number;
  #kept: string | undefined;
  #sleptMs: number | undefined;
  #outageUntil = 0;
  #changes = 0;

  constructor(options: SleeperOptions) {
    this.#options = options;
    this.dice = new Dice(options.seed);
    this.#drift = (this.dice.below(2001) / 1000 - 1) * DRIFT;
    this.platform = new FakePlatform(this.clock, this.net);
    this.platform.dates = () => this.wallAt(this.clock.now());
    this.platform.noteValues((key, n, ts) => key === "n" && this.#arrive(n, ts));
  }

  get seed(): number {
    return this.#options.seed;
  }

  get device(): Device | undefined {
    return this.platform.core.devices.byName(NAME);
  }

  /** Wakes and sleeps until `days` are over, with faults and power losses. */
  async sleepAndWake(days: number): Promise<void> {
    const end = this.clock.now() + days * DAY;
    while (this.clock.now() < end) {
      this.#changeFaults();
      await this.#cycle(true);
    }
  }

  /** No more faults: until all that is left has arrived. */
  async rest(): Promise<void> {
    this.platform.fault = undefined;
    this.#outageUntil = 0;
    for (let wakes = 0; (await this.#cycle(false))?.waiting !== 0; wakes++)
      if (wakes > 2000) return void this.problems.push("what waits does not leave");
  }

  async #cycle(spoilt: boolean): Promise<Wake | undefined> {
    const { dice, clock, counts } = this;
    const began = clock.now();
    const due = spoilt && dice.below(this.#once(this.#options.powerLossesAMonth)) === 0;
    if (due) this.body.powerLossAtChange ??= 1 + dice.below(6);
    if (!spoilt) this.body.powerLossAtChange = undefined;
    const wake = await this.#wake();
    const took = clock.now() - began;
    counts.awakeMs += took;
    this.longestMs = Math.max(this.longestMs, took);
    if (!wake) {
      await this.#powerOff();
      return undefined;
    }
    this.#kept = wake.kept;
    counts.radioMs += wake.radioMs;
    if (wake.connected) counts.connected++;
    // A fast clock ends the sleep early.
    const drift = this.#drift + DAILY_DRIFT * Math.sin((2 * Math.PI * clock.now()) / DAY);
    const asleep = wake.sleepMs / (1 + drift);
    await clock.advance(Math.round(asleep + BOOT_MS));
    this.#sleptMs = this.#options.measures ? wake.sleepMs + BOOT_MS * (1 + drift) : undefined;
    return wake;
  }

  /** Undefined if the power went. */
  async #wake(): Promise<Wake | undefined> {
    const { body, clock, platform, net } = this;
    const writes = body.store.changes.length;
    let wake: Wake | undefined;
    const powerCycle = body.powerOn({
      log: () => {},
      problem: (what) => this.problems.push(what),
      powerLost: () => {},
    });
    this.counts.wakes++;
    body.knowsTime = false;
    let agent: Agent | undefined;
    try {
      agent = this.#boot(powerCycle);
      agent
        .runOnce({ sample: () => this.#sample(), kept: this.#kept, sleptMs: this.#sleptMs })
        .then((ended) => {
          wake = ended;
        });
      await clock.runUntil(() => wake !== undefined || !powerCycle.on, 20 * MINUTE);
    } catch (error) {
      if (powerCycle.on) this.problems.push(`${error}`);
    }
    const last = this.points.at(-1);
    if (!powerCycle.on && last && clock.now() - last.at < MINUTE && !this.#safe) last.unsure = true;
    if (powerCycle.on && wake?.reason === "none") {
      // The queue's high-water mark changes once with each new sector.
      const changed = body.store.changes.slice(writes);
      const others = changed.filter((key) => key !== "queue").length;
      this.idleWrites = Math.max(this.idleWrites, others, changed.length - 1);
    }
    // Not each answer has the time.
    if (powerCycle.on && agent?.platformTime !== undefined) this.clockSet.push(clock.now());
    if (!powerCycle.on) wake = undefined;
    powerCycle.off(false);
    this.counts.requests += platform.seen.length;
    platform.seen.length = 0;
    net.peers.length = 0;
    return wake;
  }

  #safe = false;

  #boot(powerCycle: PowerCycle): Agent {
    const agent = new Agent(powerCycle.host, {
      baseUrl: "http://platform.test",
      provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
      cycle: this.#options.cycle,
    });
    agent.attributes.subscribe("target", (value) => {
      if (powerCycle.on) this.seen = value;
    });
    agent.rpc.handle("echo", (params) => params);
    this.#safe = false;
    return agent;
  }

  #sample(): { n: number } {
    const n = this.points.push({ at: this.clock.now(), unsure: false }) - 1;
    // What follows in this wake comes after it is on flash.
    this.clock.timer(1, () => {
      this.#safe = true;
    });
    return { n };
  }

  async #powerOff(): Promise<void> {
    const { clock, dice } = this;
    const from = clock.now();
    this.counts.powerLosses++;
    this.#kept = undefined;
    this.#sleptMs = undefined;
    await clock.advance(dice.chance(0.7) ? dice.below(5 * SECOND) : dice.below(6 * HOUR));
    this.off.push({ from, to: clock.now() });
  }

  #once(aMonth: number): number {
    return aMonth === 0
      ? Number.MAX_SAFE_INTEGER
      : Math.ceil((30 * DAY) / (aMonth * this.#options.cycle.everyMs));
  }

  /** What the platform's side does between two wakes. */
  #changeFaults(): void {
    const { clock, dice, platform, device } = this;
    const now = clock.now();
    if (now >= this.#outageUntil && this.#outageUntil > 0) {
      this.#outageUntil = 0;
      platform.fault = undefined;
    }
    if (this.#outageUntil === 0 && dice.below(this.#once(this.#options.outagesAMonth)) === 0) {
      this.#outageUntil = now + (dice.chance(0.8) ? dice.below(8 * HOUR) : dice.below(3 * DAY));
      platform.fault = dice.pick(OUTAGES);
    }
    if (!device) return;
    const busy = this.rpcs.at(-1);
    if (dice.below(this.#once(10)) === 0 && (!busy || now > busy.until)) {
      const timeoutMs = 12 * HOUR;
      const results = platform.rpc(device, "echo", { n: this.rpcs.length }, { timeoutMs });
      this.rpcs.push({ until: now + timeoutMs, results });
    }
    if (dice.below(this.#once(10)) === 0) platform.setShared(device, { target: ++this.#changes });
  }

  /** The last value that the operator set; undefined if there is none. */
  get target(): number | undefined {
    return this.#changes === 0 ? undefined : this.#changes;
  }

  #arrive(n: number, ts: number): void {
    const before = this.arrived.get(n);
    if (before === undefined) this.arrived.set(n, ts);
    else if (before !== ts) this.problems.push(`point ${n} has two time stamps, ${before} and ${ts}`);
  }

  /** The time of day of an instant of the clock. */
  wallAt(at: number): number {
    return WALL + at;
  }
}
