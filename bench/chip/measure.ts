// What one program costs: sessions on the emulated chip, one for each variant of its image.
import { statSync } from "node:fs";
import { type SealHost, seal, unseal } from "../../src/sealed.js";
import { sizeOf } from "../../tools/moddable/esp32/esp32.js";
import { type Idle, withoutIdle } from "./counts.js";
import { type Profile, profile } from "./profile.js";
import { type Built, build, type ProgramName, sampleImage, type Variant } from "./programs.js";
import { type ChipRow, type Cost, LOADER, STILL, type Work } from "./rows.js";
import { type Look, Session, type Spent, wait } from "./session.js";
import { loaderInstructions } from "./symbols.js";

/** How long and how often, on a board that polls every 25 s. `hourS`: what stands for an hour. */
export const LENGTHS = {
  whole: { idleS: 75, hourS: 3600, pointsS: 50, calls: 20 },
  quick: { idleS: 25, hourS: 50, pointsS: 20, calls: 5 },
} as const;
export type Lengths = Readonly<Record<keyof typeof LENGTHS.whole, number>>;

const SETTLE_MS = 3000;
const UPDATE_MS = 300_000;
/** Between two calls: what follows from one is over before the next. */
const CALL_MS = 2000;
const STOPPED = { ms: 0, batch: 1, durable: false };
/** What a program says of an update that is whole and judged. */
const VERIFIED = new Set(["VERIFIED", "UPDATING", "UPDATED"]);

/** Between the two rates of a tick, of ESP-IDF and of the SDK. */
const SLOW_HZ = 300;
/** Before the power. */
const NOTHING: Look = {
  counts: { total: 0, blocks: new Map() },
  wire: { packets: 0, bytes: 0 },
  flash: { bytes: 0, erases: new Map() },
  points: 0,
};

const NOTHING_SPENT = { counts: NOTHING.counts, instructions: 0, ticks: 0 };

export interface Measured {
  readonly costs: Readonly<Record<string, Cost>>;
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Rows without a figure, with the reason. */
  readonly failures: readonly string[];
}

/** All of `rows`, which have one variant. `say`: a line of progress. */
export async function measure(
  program: ProgramName,
  rows: readonly ChipRow[],
  lengths: Lengths,
  plugin: string,
  say: (line: string) => void,
): Promise<Measured> {
  const { variant, work } = rows[0]!;
  if (work.do === "slot") return { costs: { slot: await slotCost() }, profiles: {}, failures: [] };
  say(`${program}: building ${JSON.stringify(variant)}`);
  const built = await build(program, variant);
  const name = `${program}-${Object.values(variant).join("-")}`;
  const sleeps = variant.sleepMs !== undefined;
  const session = await Session.open(name, built, variant.secure ?? false, plugin, sleeps);
  try {
    const measurement = new Measurement(program, session, built, variant, lengths);
    if (!sleeps) await measurement.start(rows.some(({ work }) => work.do === "idle"));
    for (const { key, work } of rows) {
      say(`${program}: ${key}`);
      await measurement.tryTake(key, work);
    }
    return measurement;
  } finally {
    await session.close();
  }
}

class Measurement implements Measured {
  readonly costs: Record<string, Cost> = {};
  readonly profiles: Record<string, Profile> = {};
  readonly failures: string[] = [];
  readonly #program: ProgramName;
  readonly #session: Session;
  readonly #built: Built;
  readonly #variant: Variant;
  readonly #lengths: Lengths;
  /** From the power to the first point. */
  #boot: Spent | undefined;
  /** Nothing is recorded: polls, the tick, the idle task. */
  #idle: Spent | undefined;
  /** Ticks of the chip's second. */
  #hz = 0;
  /** The tick and the idle task alone: the cheapest second. */
  #still: Idle = { instructions: 0, ticks: 0 };

  constructor(program: ProgramName, session: Session, built: Built, variant: Variant, lengths: Lengths) {
    this.#program = program;
    this.#session = session;
    this.#built = built;
    this.#variant = variant;
    this.#lengths = lengths;
  }

  /** From the power to a board that does nothing. `long`: what stands for an hour. */
  async start(long: boolean): Promise<void> {
    const session = this.#session;
    const { hourS, idleS } = this.#lengths;
    await session.until("the first point", () => session.points > 0, undefined, 2);
    this.#boot = session.since(NOTHING);
    await session.until("an answer to the first RPC", () =>
      session.ask("points", STOPPED).then(
        () => true,
        () => false,
      ),
    );
    await wait(SETTLE_MS);
    const first = session.look();
    const seconds = long ? hourS : idleS;
    for (let s = 0; s < seconds; s++) await this.#stillSecond();
    this.#idle = session.since(first);
    this.#hz = this.#idle.ticks / seconds > SLOW_HZ ? 1000 : 100;
  }

  async #stillSecond(): Promise<void> {
    const before = this.#session.look();
    await wait(1000);
    const { instructions, ticks } = this.#session.since(before);
    const { instructions: least, ticks: of } = this.#still;
    if (ticks > 0 && (of === 0 || instructions / ticks < least / of)) this.#still = { instructions, ticks };
  }

  /** What other rows of the session said is kept. */
  async tryTake(key: string, work: Work): Promise<void> {
    try {
      await this.#take(key, work);
    } catch (error) {
      this.failures.push(`${key} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #take(key: string, work: Work): Promise<void> {
    if (work.do === "points") await this.#points(key, work);
    else if (work.do === "rpc") await this.#calls(key, (n) => this.#session.ask("echo", { n }));
    else if (work.do === "wake") this.costs[key] = await this.#wake(key, work.again);
    else this.costs[key] = await this.#other(key, work.do);
  }

  #other(key: string, what: "boot" | "idle" | "image" | "memory" | "update" | "slot"): Cost | Promise<Cost> {
    if (what === "boot") return this.#bootCost(key);
    if (what === "idle") return this.#idleCost(key);
    if (what === "image") return { more: { bytes: statSync(this.#built.application).size } };
    return what === "memory" ? this.#memory() : this.#update();
  }

  /** From the power until it sleeps, the tick and the idle task included. */
  async #wake(key: string, again?: "steady" | "quiet"): Promise<Cost> {
    const session = this.#session;
    const asleep = () => session.until("deep sleep", () => session.asleep, undefined, 5);
    // The wake after power-on still has things to do in the one that follows it.
    if (again === "steady") {
      await session.wakeUp();
      await asleep();
    }
    if (again) await session.wakeUp(again === "quiet" ? notDue : undefined);
    await asleep();
    const wake = session.since(NOTHING);
    this.#profile(key, wake, NOTHING_SPENT, 1);
    const { instructions, packets, bytes, flashBytes, erases } = wake;
    return { instructions, packets, bytes, flashBytes, erases };
  }

  #bootCost(key: string): Cost {
    const { packets, bytes, flashBytes, erases, counts } = this.#boot!;
    const instructions = withoutIdle(this.#boot!, this.#still);
    this.#profile(key, this.#boot!, NOTHING_SPENT, 1);
    return {
      instructions,
      packets,
      bytes,
      flashBytes,
      erases,
      more: {
        [LOADER]: loaderInstructions(counts, this.#session.symbols),
      },
    };
  }

  /** An hour by the chip's own ticks. */
  #idleCost(key: string): Cost {
    const idle = this.#idle!;
    this.#profile(key, idle, NOTHING_SPENT, idle.ticks / (3600 * this.#hz));
    const hour = (3600 * this.#hz) / idle.ticks;
    return {
      instructions: hour * withoutIdle(idle, this.#still),
      packets: hour * idle.packets,
      bytes: hour * idle.bytes,
      flashBytes: hour * idle.flashBytes,
      more: {
        "seconds measured": idle.ticks / this.#hz,
        [STILL]: (3600 * this.#hz * this.#still.instructions) / this.#still.ticks,
      },
    };
  }

  async #points(key: string, work: Extract<Work, { do: "points" }>): Promise<void> {
    const session = this.#session;
    const { everyMs, batch, durable } = work;
    await session.ask("points", { ms: everyMs, batch, durable });
    await wait(SETTLE_MS);
    const before = await this.#delivered(everyMs * batch);
    await wait(this.#lengths.pointsS * 1000);
    const after = await this.#delivered(everyMs * batch);
    const spent = session.since(before, after);
    this.#keep(key, spent, spent.points);
    await session.ask("points", STOPPED);
    await wait(SETTLE_MS);
  }

  /** Right after a delivery, so that as much is under way at both ends. */
  async #delivered(apartMs: number): Promise<Look> {
    const session = this.#session;
    const { points } = session;
    await session.until("points", () => session.points > points, undefined, 5);
    await wait(apartMs >= 1000 ? 300 : 30);
    return session.look();
  }

  async #calls(key: string, call: (n: number) => Promise<unknown>): Promise<void> {
    const { calls } = this.#lengths;
    // The first of its kind has to be learnt by caches.
    await call(0);
    await wait(CALL_MS);
    const before = this.#session.look();
    for (let n = 1; n <= calls; n++) {
      await call(n);
      await wait(CALL_MS);
    }
    this.#keep(key, this.#session.since(before), calls);
  }

  async #memory(): Promise<Cost> {
    return { more: (await this.#session.ask("memory")) as Record<string, number> };
  }

  async #update(): Promise<Cost> {
    const session = this.#session;
    const { application } = await build(this.#program, { ...this.#variant, version: "2.0.0" });
    const KiB = statSync(application).size / 1024;
    const before = session.look();
    await session.assign("2.0.0", application);
    await session.until("an update", () => VERIFIED.has(String(session.latest("fw_state"))), UPDATE_MS);
    this.#keep("update", session.since(before), KiB);
    return this.costs.update!;
  }

  /** Without what the same time costs where nothing is done. */
  #keep(key: string, spent: Spent, pieces: number): void {
    const idle = this.#idle!;
    const share = spent.ticks / idle.ticks;
    const of = (figure: "packets" | "bytes" | "flashBytes"): number =>
      (spent[figure] - share * idle[figure]) / pieces;
    this.costs[key] = {
      instructions: withoutIdle(spent, idle) / pieces,
      packets: of("packets"),
      bytes: of("bytes"),
      flashBytes: of("flashBytes"),
      erases: spent.erases / pieces,
      more: { pieces },
    };
    this.#profile(key, spent, idle, pieces);
  }

  #profile(key: string, spent: Spent, idle: Parameters<typeof profile>[1], pieces: number): void {
    this.profiles[key] = profile(spent, idle, pieces, this.#session.symbols);
  }
}

const SEALS: SealHost = {
  encode: (text) => Buffer.from(text),
  decode: (bytes) => Buffer.from(bytes).toString(),
};

/**
 * Mote's state for the next wake, in which no connection is due. Throws if another version wrote
 * `kept`.
 */
function notDue(kept: string): string {
  const memory = unseal(SEALS, Buffer.from(kept)) as { wakesLeft: number };
  return Buffer.from(seal(SEALS, JSON.stringify({ ...memory, wakesLeft: 30 }))).toString();
}

/** The sample as a board has it: its image, and the share of its slot that stays free. */
async function slotCost(): Promise<Cost> {
  const image = await sampleImage();
  const { bytes, room } = sizeOf(image);
  return { more: { bytes, "% free": (100 * (room - bytes)) / room } };
}
