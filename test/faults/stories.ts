// A story: a device and a platform through an hour or so of everything that goes wrong, on a clock that a test moves. What the seed
// decides is the same on every run. Afterwards, in good weather, the promises are looked at from the platform's side.
import { Agent, type AgentOptions } from "../../src/index.js";
import { KEY, SECRET } from "../fakes/platform.js";
import { Asked } from "./asked.js";
import { Body, type Life } from "./device.js";
import { check } from "./promises.js";
import { type Dice, NAME, World } from "./world.js";

export const KEYS = ["interval", "limit", "mode", "größe"];
const EVENTS = [
  "provisioned",
  "online",
  "offline",
  "delivered",
  "drop",
  "attributes",
  "rpc",
  "refused",
] as const;
const DEEDS = 40;

export class Story {
  readonly world: World;
  readonly body: Body;
  readonly dice: Dice;
  readonly asked: Asked;
  readonly connections: 1 | 2 | 3;
  readonly options: Partial<AgentOptions>;
  readonly failures: string[] = [];
  readonly trace: string[] = [];
  /** Lines of all lives, with the time. */
  readonly lines: { at: number; line: string }[] = [];
  readonly events: string[] = [];
  /** Points recorded so far, and those that may be missing: they were in memory only when the power went. */
  recorded = 0;
  readonly excused = new Set<number>();
  /** The last client attribute published. */
  published = 0;
  /** What the subscribers of this life saw last. */
  seen = new Map<string, unknown>();
  agent: Agent | undefined;
  life: Life | undefined;

  constructor(seed: number) {
    this.world = new World(seed);
    const { dice } = this.world;
    this.dice = dice;
    this.world.onRequest = ({ method, path }) => this.note(`  ${method} ${path.replace(/v1.[^/]+/, "")}`);
    this.connections = dice.pick([1, 2, 3]);
    this.body = new Body(dice.pick([0, 4, 16]));
    this.asked = new Asked(this);
    const durable = dice.chance(0.7);
    const timestamps = dice.pick(["device", "device", "platform"] as const);
    this.options = { connections: this.connections, telemetry: { durable, timestamps } };
    this.note(
      `connections ${this.connections}, ${this.body.blocks.size} bytes of blocks, ${JSON.stringify(this.options.telemetry)}`,
    );
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
    const life = this.body.live(this.world, (line) => {
      this.lines.push({ at: clock.now(), line });
      this.note(line);
    });
    this.life = life;
    this.seen = new Map();
    const agent = new Agent(life.host, {
      baseUrl: "http://platform.test",
      provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
      ...this.options,
    });
    this.agent = agent;
    for (const event of EVENTS) {
      agent.on(event, (detail) => {
        if (!life.alive) return;
        this.events.push(JSON.stringify([event, detail]));
        this.note(`${event} ${JSON.stringify(detail)}`);
      });
    }
    for (const key of KEYS) this.#subscribe(agent, life, key);
    this.asked.handle(agent, life);
    agent.start();
  }

  #subscribe(agent: Agent, life: Life, key: string): void {
    let first = true;
    agent.attributes.subscribe(key, (value) => {
      if (!life.alive) return;
      const text = JSON.stringify(value);
      if (!first && JSON.stringify(this.seen.get(key)) === text) this.fail(`${key} was told twice: ${text}`);
      this.seen.set(key, value);
      this.note(`saw ${key} = ${text?.slice(0, 40)}`);
    });
    first = false;
  }

  /** The device ends at this instant. */
  cut(silent: boolean): void {
    const { world, life, body } = this;
    if (!life?.alive) return;
    life.cut(silent);
    const arrived = new Set(world.points);
    const kept = body.blocks.size > 0 && this.options.telemetry?.durable ? this.recorded : this.#safe;
    for (let n = 0; n < this.recorded; n++)
      if (!arrived.has(n) && (n >= kept || body.blocks.size === 0)) this.excused.add(n);
  }

  /** Points below this were recorded more than a second and a half ago. */
  get #safe(): number {
    const before = this.world.clock.now() - 1500;
    const at = this.#recordedAt.findIndex((when) => when >= before);
    return at < 0 ? this.recorded : at;
  }

  readonly #recordedAt: number[] = [];

  record(points: number): void {
    if (!this.life?.alive) return;
    for (let i = 0; i < points; i++) {
      this.#recordedAt.push(this.world.clock.now());
      this.agent?.telemetry.record({ n: this.recorded++ });
    }
  }

  async run(): Promise<void> {
    const { clock } = this.world;
    this.boot();
    for (let deed = 0; deed < DEEDS; deed++) {
      await clock.advance(
        this.dice.pick([0, 1, 20, 300, 2000, 9000, 30_000, 90_000]) + this.dice.below(1000),
      );
      await this.#deed();
    }
    this.world.calm();
    this.body.wallOffsetMs = 0;
    this.body.store.fails = undefined;
    if (!this.life?.alive) this.boot();
    this.note("calm");
    await check(this);
  }

  async #deed(): Promise<void> {
    const deeds: (() => unknown)[] = [
      this.#weather,
      this.#weather,
      this.#weather,
      this.#change,
      this.#change,
      this.#change,
      this.#points,
      this.#points,
      () => this.asked.send(),
      () => this.asked.send(),
      () => this.asked.send(),
      () => this.asked.call(),
      this.#publish,
      this.#platform,
      this.#device,
      this.#clock,
      this.#store,
    ];
    await this.dice.pick(deeds).call(this);
  }

  #weather(): void {
    this.note(`weather: ${this.world.turn()}`);
  }

  #change(): void {
    const { device, platform } = this.world;
    if (!device) return;
    for (let changes = 1 + this.dice.below(3); changes > 0; changes--) {
      const key = this.dice.pick(KEYS);
      if (this.dice.chance(0.3)) platform.deleteShared(device, [key]);
      else
        platform.setShared(device, {
          [key]: this.dice.pick([this.dice.below(5), "on", "ü".repeat(900), true, { a: [1] }]),
        });
      this.note(`set ${key}`);
    }
  }

  #points(): void {
    const points = this.dice.pick([1, 3, 20, 200]);
    this.note(`record ${points}`);
    this.record(points);
  }

  #publish(): void {
    // What can't be stored is lost with the power.
    if (!this.life?.alive || this.body.store.fails) return;
    this.agent?.attributes.publish({ count: ++this.published, [`c${this.dice.below(3)}`]: "x" });
  }

  #platform(): void {
    const silent = this.dice.chance(0.5);
    const restarts = this.dice.chance(0.6);
    this.note(`${restarts ? "platform restarts" : "connections break"}${silent ? " silently" : ""}`);
    if (!restarts) {
      this.world.breakConnections(silent);
      return;
    }
    this.asked.forgotten();
    this.world.restartPlatform(silent);
  }

  async #device(): Promise<void> {
    const { agent, life } = this;
    if (!life?.alive || !agent) {
      this.note("device starts");
      return this.boot();
    }
    const how = this.dice.pick(["cut", "cut", "cut and off", "restart", "again", "stop"]);
    this.note(`device: ${how}`);
    if (how === "again") {
      void agent.stop();
      agent.start();
      return;
    }
    if (how === "stop" || how === "restart") {
      const stopped = agent.stop();
      await this.world.clock.advance(this.dice.pick([0, 20, 2000]));
      if (how === "stop") return agent.start();
      await this.world.clock.advance(60_000);
      await stopped;
      if (life.timers > 0) this.#leftover(life);
    }
    this.cut(this.dice.chance(0.5));
    if (how !== "cut and off") this.boot();
  }

  #leftover(life: Life): void {
    this.note(`${life.timers} timers are left after stop()`);
  }

  #clock(): void {
    this.body.wallOffsetMs = this.dice.pick([0, 0, 3_600_000, -3_600_000, 5000, -4000, 90 * 86_400_000]);
    this.note(`the device's time is off by ${this.body.wallOffsetMs}`);
  }

  #store(): void {
    const fails = this.dice.chance(0.3);
    this.body.store.fails = fails ? () => true : undefined;
    this.note(`store ${fails ? "fails" : "works"}`);
  }
}

/** Runs the story of `seed`; returns it with its failures. */
export async function tell(seed: number): Promise<Story> {
  const story = new Story(seed);
  try {
    await story.run();
  } catch (error) {
    story.fail(error instanceof Error ? `${error.stack?.slice(0, 400)}` : String(error));
  }
  return story;
}
