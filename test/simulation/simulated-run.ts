// A simulated run: a device and a platform through an hour or a day of everything that goes wrong,
// on a clock that a test moves. What the seed decides is the same on every run. Afterwards, without
// faults, the promises are checked from the platform's side.
import { Agent, type AgentOptions } from "../../src/index.js";
import { KEY, SECRET } from "../fakes/platform.js";
import { type Observer, type PowerCycle, SimulatedDevice } from "./device.js";
import type { Dice } from "./dice.js";
import { CAUSES, CONNECTS } from "./faults.js";
import { watchCodes } from "./promises/codes.js";
import { Points } from "./promises/points.js";
import { check } from "./promises/promises.js";
import { RpcCalls } from "./promises/rpc-calls.js";
import { Shared } from "./promises/shared-attributes.js";
import { NAME, World } from "./world.js";

const EVENTS = [
  ...(["provisioned", "online", "offline", "delivered", "drop"] as const),
  ...(["attributes", "rpc", "refused", "error"] as const),
];
const DEEDS = 36;
/**
 * A run's featured fault is applied so often, unless the device asks for nothing in all that time.
 */
const FEATURED_TIMES = 2;
const FEATURED_WITHIN_MS = 600_000;
const GIVEN_TOKEN = "given-token-4711";
/** One of these is in each run for sure, by its seed. */
export const FEATURED = [...Object.keys(CAUSES), ...CONNECTS];
const DAY = 24 * 3_600_000;

export class SimulatedRun {
  readonly world: World;
  readonly body: SimulatedDevice;
  readonly dice: Dice;
  readonly rpcCalls: RpcCalls;
  readonly points: Points;
  readonly shared: Shared;
  readonly connections: 1 | 2 | 3;
  readonly options: Partial<AgentOptions>;
  readonly failures: string[] = [];
  readonly trace: string[] = [];
  /** Lines of all powerCycles, with the time. */
  readonly lines: { at: number; line: string }[] = [];
  /** Events, and errors that calls of the application ended with. */
  readonly texts: string[] = [];
  /** The last client attribute published. */
  published = 0;
  #publishedAt = 0;
  /** The device sleeps between its wakes, until there are no more faults. */
  #sleeps: boolean;
  /** What the last wake left in memory that the power keeps. */
  #kept: string | undefined;
  /** An operator who asks a lot, through restarts and proxies. */
  readonly #asks: boolean;
  agent: Agent | undefined;
  powerCycle: PowerCycle | undefined;

  constructor(seed: number) {
    this.world = new World(seed);
    const { dice } = this.world;
    this.dice = dice;
    this.world.onRequest = (request) => {
      this.note(`  ${request.method} ${request.path.replace(/v1.[^/]+/, "")}`);
      this.rpcCalls.handedOut.came(request);
    };
    this.world.onMadeUp = () => this.rpcCalls.handedOut.madeUp(1);
    this.world.onProblem = (what) => this.fail(what);
    this.world.onCopy = (id) => this.rpcCalls.handedOut.copied(id);
    this.world.onRestart = () => {
      this.note("the platform restarts");
      this.rpcCalls.forgotten();
    };
    this.connections = this.world.connections;
    this.#sleeps = dice.chance(0.2);
    this.world.isOnOne = this.#sleeps;
    this.#asks = dice.chance(0.4);
    this.body = new SimulatedDevice(this.world, dice.pick([0, 4, 16]), this.connections);
    this.rpcCalls = new RpcCalls(this);
    this.points = new Points(this);
    this.shared = new Shared(this);
    this.options = this.#choose();
    this.note(`${this.body.blocks.size} bytes of blocks, ${JSON.stringify(this.options)}`);
  }

  #choose(): Partial<AgentOptions> {
    const { dice } = this;
    const timestamps = dice.pick(["device", "device", "platform"] as const);
    const cycle = { everyMs: dice.pick([5000, 20_000, 60_000]), connectEvery: dice.pick([1, 1, 3]) };
    const telemetry = { durable: dice.chance(0.7), timestamps };
    const given = dice.chance(0.3);
    if (given) this.world.platform.create(NAME, GIVEN_TOKEN);
    if (dice.chance(0.3)) this.body.limit = 65_536;
    const limits = { answerBytes: this.body.limit };
    return {
      connections: this.connections,
      telemetry,
      ...(this.#sleeps && { cycle }),
      ...(given ? { token: GIVEN_TOKEN } : { provisioning: { key: KEY, secret: SECRET, deviceName: NAME } }),
      ...(this.body.limit > 8192 && {
        attributes: limits,
        rpc: { ...limits, requestBytes: this.body.limit },
      }),
    };
  }

  note(what: string): void {
    this.trace.push(`${(this.world.clock.now() / 1000).toFixed(3)} ${what}`);
  }

  fail(what: string): void {
    this.failures.push(what);
    this.note(`FAILED: ${what}`);
  }

  /** The device starts, on what it kept. */
  boot(): void {
    const { clock } = this.world;
    const observer: Observer = {
      log: (line) => {
        this.lines.push({ at: clock.now(), line });
        this.note(line);
      },
      problem: (what) => this.fail(what),
      powerLost: () => {
        this.world.count("power loss in a write");
        this.note("the power goes in a write");
        this.points.powerLost();
      },
    };
    if (this.body.blocks.size > 0 && this.body.blocks.fails?.("read", 0))
      this.world.count("flash unreadable");
    if (this.body.blocks.fails) this.points.blocksFail();
    const powerCycle = this.body.powerOn(observer);
    this.powerCycle = powerCycle;
    const agent = new Agent(powerCycle.host, { baseUrl: "http://platform.test", ...this.options });
    this.agent = agent;
    for (const event of EVENTS) {
      agent.on(event, (detail) => {
        if (!powerCycle.on) return;
        const text = `${event} ${JSON.stringify(detail)}`;
        this.texts.push(text);
        this.note(text);
      });
    }
    watchCodes(agent, (what) => this.fail(what));
    this.shared.subscribe(agent, powerCycle);
    this.rpcCalls.handle(agent, powerCycle);
    if (this.#sleeps) this.#wake(agent, powerCycle);
    else agent.start();
  }

  /** One wake and the sleep after it, unless something ends it before. */
  #wake(agent: Agent, powerCycle: PowerCycle): void {
    const { dice, world } = this;
    world.count("wakes");
    const timeoutMs = dice.pick([30_000, 30_000, 5000]);
    agent.runOnce({ timeoutMs, connect: dice.chance(0.5), kept: this.#kept }).then(
      (wake) => {
        // Started meanwhile it stays awake.
        if (!powerCycle.on || agent.state !== "stopped") return;
        this.note(`sleeps ${wake.sleepMs} ms, ${wake.reason}${wake.idle ? "" : ", not done"}`);
        this.powerOff(false);
        this.#kept = wake.kept;
        world.clock.timer(wake.sleepMs, () => {
          if (this.powerCycle === powerCycle) this.boot();
        });
      },
      (error) => powerCycle.on && this.fail(`a wake failed: ${error}`),
    );
  }

  /** The device ends at this instant. */
  powerOff(silent: boolean): void {
    this.#kept = undefined;
    if (!this.powerCycle?.on) return;
    this.powerCycle.off(silent);
    this.points.powerLost();
  }

  async execute(): Promise<void> {
    const { dice, world } = this;
    const { clock } = world;
    this.boot();
    const featured = dice.below(DEEDS / 2);
    const day = dice.chance(0.06) ? dice.below(DEEDS) : -1;
    for (let deed = 0; deed < DEEDS; deed++) {
      await clock.advance(dice.pick([0, 1, 20, 300, 2000, 9000, 30_000, 60_000]) + dice.below(1000));
      if (deed === featured) await this.#feature(FEATURED[world.seed % FEATURED.length]!);
      else if (deed === day) await this.#day();
      else await this.#deed();
    }
    this.#calm();
    await check(this);
  }

  /**
   * This fault stays until it met the device: the next deed would change it, and before that there
   * may be no request, or no device.
   */
  async #feature(name: string): Promise<void> {
    const { world } = this;
    const { clock } = world;
    this.note(`fault: ${world.changeFault(name)}`);
    if (!this.powerCycle?.on) this.boot();
    const begun = clock.now();
    const met = () => world.applied.get(name) ?? 0;
    const enough = met() + FEATURED_TIMES;
    while (met() < enough && clock.now() - begun < FEATURED_WITHIN_MS) await clock.advance(1000);
  }

  #calm(): void {
    const { body } = this;
    this.world.calm();
    if (body.wallOffsetMs !== 0) this.points.clockSet = true;
    body.wallOffsetMs = 0;
    body.knowsTime = true;
    body.powerLossAtChange = undefined;
    body.store.fails = undefined;
    body.blocks.fails = undefined;
    this.points.blocksWork();
    if (this.#sleeps) this.powerOff(false);
    this.#sleeps = false;
    if (!this.powerCycle?.on) this.boot();
    this.note("calm");
    if (this.published > 0 && this.count === undefined) this.#publish();
  }

  async #deed(): Promise<void> {
    const deeds: (() => unknown)[] = [
      ...[1, 2, 3, 4].map(() => this.#changeFault),
      ...[
        this.#points,
        this.#points,
        this.#publish,
        this.#platform,
        () => this.#device(),
        () => this.#device(),
        this.#clock,
      ],
      ...[this.#storage, this.#heals, this.#refuseContent, this.#network],
      ...[1, 2, 3].map(() => () => this.shared.change()),
      ...[1, 2, 3, 4].map(() => () => void this.rpcCalls.send()),
      () => this.rpcCalls.call(),
    ];
    const asks = [
      ...[this.#sameCall, this.#sameCall, this.#stall, this.#platform, () => this.#device(), this.#reset],
      this.#network,
      ...[1, 2, 3].map(() => () => void this.rpcCalls.send()),
    ];
    await this.dice.pick(this.#asks && this.dice.chance(0.6) ? asks : deeds).call(this);
  }

  /** The same call again, with a restart of the platform in between. */
  async #sameCall(): Promise<void> {
    const { dice, world, rpcCalls } = this;
    rpcCalls.send("toggle", dice.chance(0.3));
    await world.clock.advance(dice.pick([0, 3, 30, 300, 2000]));
    if (dice.chance(0.3)) world.setTrap();
    else world.restartPlatform();
    await world.clock.advance(dice.pick([0, 100, 3000, 15_000]));
    rpcCalls.send("toggle", dice.chance(0.3));
  }

  #stall(): void {
    this.note("a proxy answers from the next answer on");
    this.world.count("a platform stalled behind a proxy");
    this.world.stall();
    this.rpcCalls.send(this.dice.pick(["toggle", "echo", "slow"]), false, 600_000);
  }

  /** The device forgets who it is; what it is given as its token it has again. */
  async #reset(): Promise<void> {
    const { agent, powerCycle, body, world } = this;
    const whole = !body.store.fails && !body.blocks.fails && body.powerLossAtChange === undefined;
    if (!agent || !powerCycle?.on || !whole || this.options.token === undefined) return;
    this.note("reset");
    world.count("reset");
    this.points.forget();
    this.rpcCalls.handedOut.forget();
    agent.reset().catch((error) => this.fail(`the reset failed: ${error}`));
    await world.clock.advance(2000);
    this.rpcCalls.handedOut.forget();
    this.points.forget();
    this.powerOff(this.dice.chance(0.5));
    this.boot();
    this.#publish();
  }

  #changeFault(): void {
    this.note(`fault: ${this.world.changeFault()}`);
  }

  #points(): void {
    const { dice } = this;
    const points = dice.pick([1, 3, 20, 200]);
    const poison = dice.chance(0.15);
    if (poison) this.world.count("content refused");
    this.note(`record ${points}${poison ? ", the first refused" : ""}`);
    this.points.record(points, poison);
  }

  /**
   * All that is written is refused for its content for a while, whatever it is, and reading works;
   * or all of everything is.
   */
  async #refuseContent(): Promise<void> {
    const { dice, world } = this;
    const status = dice.pick(["400", "400 with a text", "403", "413", "422", "500 with a text"]);
    world.count("content statuses on everything");
    this.note(
      `fault: ${world.changeFault(`status ${status}`, dice.pick([/telemetry$/, /telemetry$/, /./]))}`,
    );
    for (let second = 0; second < 60; second++) {
      this.points.record(dice.below(4));
      await world.clock.advance(1000);
    }
    if (dice.chance(0.7)) world.calm();
  }

  #publish(): void {
    // What can't be stored is lost with the power.
    if (!this.powerCycle?.on || this.body.store.fails || this.body.powerLossAtChange !== undefined) return;
    this.#publishedAt = this.world.clock.now();
    this.agent?.attributes.publish({ count: ++this.published, [`c${this.dice.below(3)}`]: "x" });
  }

  /**
   * What the client attribute is to be on the platform, unless that refused it since it was
   * published.
   */
  get count(): number | undefined {
    const refused = this.lines.findLast(({ line }) => line.includes("refuses a client attribute"));
    return this.published > 0 && !(refused && refused.at >= this.#publishedAt) ? this.published : undefined;
  }

  #platform(): void {
    const { dice, world } = this;
    if (dice.chance(0.3)) world.setTrap();
    else if (dice.chance(0.5)) world.restartPlatform();
    else {
      const silent = dice.chance(0.5);
      world.count("connections break");
      this.note(`connections break${silent ? " silently" : ""}`);
      world.breakConnections(silent);
    }
  }

  /**
   * The device's own network is gone for a while; mostly the host sees it return, and sometimes
   * says so for nothing.
   */
  async #network(): Promise<void> {
    const { dice, world } = this;
    world.count("the network goes and returns");
    if (dice.chance(0.8)) {
      // Its answer is under way when the network goes, or when it returns.
      this.rpcCalls.send(dice.pick(["echo", "slow", "slow", "toggle"]), false, 600_000);
      await world.clock.advance(dice.pick([0, 10, 50, 500]));
      this.note(
        `the network is gone: ${world.changeFault(dice.pick([...CONNECTS, "hang", "answer swallowed"]))}`,
      );
      world.breakConnections(dice.chance(0.5));
      await world.clock.advance(dice.pick([1000, 3000, 8000, 20_000, 92_000]));
      world.calm();
    }
    this.note("the network returns");
    if (this.powerCycle?.on && dice.chance(0.8)) this.agent?.networkReturned();
  }

  async #device(
    how = this.dice.pick([
      "power loss",
      "power loss",
      "power loss in a write",
      "power loss, then off",
      "restart",
      "again",
      "stop",
    ]),
  ): Promise<void> {
    const { agent, powerCycle, dice } = this;
    this.body.knowsTime = dice.chance(0.7);
    if (!powerCycle?.on || !agent) {
      this.note("device starts");
      return this.boot();
    }
    if (this.#sleeps) {
      // A wake may be stopped, and nothing else starts while it ends.
      if (dice.chance(0.3)) await this.#stopped(agent);
      this.powerOff(dice.chance(0.5));
      return this.boot();
    }
    this.note(`device: ${how}`);
    this.world.count(`device: ${how}`);
    if (!this.body.knowsTime) this.world.count("time unknown");
    if (how === "power loss in a write") {
      this.body.powerLossAtChange = 1 + dice.below(12);
      return;
    }
    if (how === "again" || how === "stop" || how === "restart") {
      const stopped = agent.stop();
      if (how === "again") return agent.start();
      await this.world.clock.advance(dice.pick([0, 20, 2000]));
      if (how === "stop") return agent.start();
      await this.world.clock.advance(60_000);
      // Whose power went while it stopped never ends.
      if (powerCycle.on) this.points.stopped((await stopped).lostPoints);
      powerCycle.off(dice.chance(0.5));
    } else this.powerOff(dice.chance(0.5));
    if (how !== "power loss, then off") this.boot();
  }

  async #stopped(agent: Agent): Promise<void> {
    this.world.count("a wake stopped");
    void agent.stop();
    await this.world.clock.advance(this.dice.pick([0, 20, 2000]));
  }

  /** A day without the platform, or nearly. */
  async #day(): Promise<void> {
    const { dice, world } = this;
    const name = dice.pick([...CONNECTS, "captive portal", "hang", "dropped", "status 503"]);
    world.count("a day offline");
    this.note(`a day offline: ${world.changeFault(name)}`);
    const bursts = dice.pick([12, 24]);
    for (let burst = 0; burst < bursts; burst++) {
      this.points.record(dice.pick([1, 20, 200]));
      await world.clock.advance(DAY / bursts);
    }
  }

  #clock(): void {
    const { body, dice } = this;
    this.world.count("clock jumps");
    if (!body.knowsTime) {
      body.knowsTime = true;
      this.note("the device learns the time");
      return;
    }
    body.wallOffsetMs = dice.pick([0, 0, 3_600_000, -3_600_000, 5000, -4000, 90 * 86_400_000]);
    if (body.wallOffsetMs !== 0) this.points.clockSet = true;
    if (body.wallOffsetMs > DAY) this.world.farAhead = true;
    this.note(`the device's time is off by ${body.wallOffsetMs}`);
  }

  #storage(): void {
    const { body, dice } = this;
    if (dice.chance(0.3)) {
      this.#flash(dice.pick(["fails", "full", "flickers", "wears", "works", "works", "works"]));
      return;
    }
    const fails = dice.chance(0.4) ? () => true : undefined;
    const what = `store ${fails ? "fails" : "works"}`;
    this.note(what);
    this.world.count(what);
    body.store.fails = fails;
  }

  /**
   * `fails`: all; `full`: nothing is written; `flickers`: now and then; `wears`: one sector is
   * written or erased no more.
   */
  #flash(what: "fails" | "full" | "flickers" | "wears" | "works"): void {
    const { body, dice } = this;
    this.note(`flash ${what}`);
    this.world.count(`flash ${what}`);
    const worn = dice.below(Math.max(1, body.blocks.size / body.blocks.sectorSize)) * body.blocks.sectorSize;
    body.blocks.fails = {
      fails: () => true,
      full: (call: string) => call !== "read",
      flickers: (call: string) => call !== "read" && dice.chance(0.5),
      wears: (call: string, at: number) =>
        call !== "read" && at >= worn && at < worn + body.blocks.sectorSize,
      works: undefined,
    }[what];
    if (body.blocks.fails) this.points.blocksFail();
    else this.points.blocksWork();
  }

  /**
   * Storage that fails and heals: points come all the while, and at the end the device is stopped
   * as by SIGTERM, or its power goes.
   */
  async #heals(): Promise<void> {
    const { dice, body, world } = this;
    world.count("flash fails and heals");
    if (!body.blocks.fails) this.#flash(dice.pick(["full", "full", "flickers", "wears", "fails"]));
    if (dice.chance(0.2)) {
      world.count("store fails");
      body.store.fails = () => true;
    }
    const points = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        this.points.record(dice.below(5));
        await world.clock.advance(1000);
      }
    };
    await points(dice.pick([1, 8, 40]));
    if (dice.chance(0.8)) this.#flash("works");
    await points(dice.pick([1, 15, 70]));
    body.store.fails = undefined;
    await this.#device(dice.pick(["restart", "restart", "stop", "power loss"]));
  }
}

/** Simulates the run of `seed`; returns it with its failures. */
export async function simulate(seed: number): Promise<SimulatedRun> {
  const run = new SimulatedRun(seed);
  try {
    await run.execute();
  } catch (error) {
    run.fail(error instanceof Error ? `${error.stack?.slice(0, 400)}` : String(error));
  }
  return run;
}
