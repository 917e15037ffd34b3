// The durable queue by itself: points go in and out until all is done, however often the power
// goes.

import { Outbox } from "../../../src/agent/queue/outbox.js";
import { POINT_HEAD, padded } from "../../../src/agent/queue/record.js";
import { Time } from "../../../src/agent/time/time.js";
import { randomBytes } from "../../fakes/host.js";
import { Power } from "../../fakes/power.js";
import { PoweredDevice, type PoweredHost } from "../../fakes/powered-device.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { type Case, multiply } from "../runner.js";

interface Shape {
  readonly drop: "oldest" | "newest";
  readonly durable: boolean;
  /** `through`: what goes in soon goes out; `backlog`: more than there is room for. */
  readonly flow: "through" | "backlog";
  readonly before: "blank" | "strange";
}

/**
 * A number that the queue keeps: old or new after a power loss. Where nothing was written that
 * could say so, that lasts until something is.
 */
class Kept {
  #values = [0];
  readonly #alwaysWritten: boolean;

  constructor(alwaysWritten: boolean) {
    this.#alwaysWritten = alwaysWritten;
  }

  get least(): number {
    return this.#values[0]!;
  }

  get last(): number {
    return this.#values.at(-1)!;
  }

  /** `change` makes it `value`. */
  becomes(value: number, power: Power, change: () => void): void {
    const before = power.changes.length;
    this.#values.push(value);
    change();
    if (this.#alwaysWritten || power.changes.length > before) this.#values = [value];
  }

  /** `slack`: it may be so much less. */
  found(what: string, value: number, slack = 0): void {
    const fits = this.#values.some((one) => value <= one && value >= one - slack);
    if (!fits) throw new Error(`${what}: ${value}, not ${this.#values.join(" or ")}`);
    this.#values = [value];
  }

  set(value: number): void {
    this.#values = [value];
  }
}

/**
 * What the application and the platform know: nothing of it may be contradicted by what survives.
 */
interface World {
  readonly body: PoweredDevice;
  readonly shape: Shape;
  /** Steps of the job that are done. */
  step: number;
  /** Points for which `append` returned true. */
  appended: number;
  /** The power ended an `append`: one more may be there. */
  appending: boolean;
  /** Points below this must be on flash. */
  safe: number;
  /** Points that the platform took or refused, those refused, and the drops reported to it. */
  readonly finished: Kept;
  readonly refused: Kept;
  readonly reported: Kept;
  unreadable: number;
  /**
   * Starts since the last that was looked at. Each may have counted a write that was cut as a
   * point.
   */
  starts: number;
  /** A point is missing between others, as only a write of several that was cut leaves it. */
  isHoled: boolean;
}

const STEPS = { durable: 24, staged: 12 };
const STAGE_BYTES = 4096;
const STAGE_MS = 1000;
/** Points in at a step, out at a step, and how many steps go by between two that let points out. */
const FLOWS = {
  through: { in: [1, 2, 3, 4], out: [4, 9, 7], every: 3 },
  backlog: { in: [5, 3], out: [3], every: 8 },
};
/** So many times more where writes are put together. */
const BURST = 12;
const STRANGE = "error: the storage of the durable queue contains other data: starting empty";
/**
 * How many is looked at. What a cut write left may look like a whole point that was damaged later.
 */
const LOST = "error: the durable queue is damaged, outdated or missing: at most ";

function begin(shape: Shape): World {
  const body = shape.durable
    ? new PoweredDevice({ sectors: 4, sectorSize: 512 })
    : new PoweredDevice({ sectors: 6, sectorSize: 1024 });
  if (shape.before === "strange") {
    const random = randomBytes(5);
    for (let i = 0; i < body.blocks.bytes.length; i++) body.blocks.bytes[i] = random();
  }
  const counts = {
    step: 0,
    appended: 0,
    appending: false,
    safe: 0,
    unreadable: 0,
    starts: 0,
    isHoled: false,
  };
  // What is on flash in time always finds room for status entries, unless the newest go.
  const kept = () => new Kept(shape.durable && shape.drop === "oldest");
  return { body, shape, ...counts, finished: kept(), refused: kept(), reported: kept() };
}

async function resume(world: World, power: Power): Promise<void> {
  const { drop, durable } = world.shape;
  const host = world.body.start(power);
  world.starts++;
  const outbox = new Outbox(host, new Time(host), { drop, durable });
  if (world.isHoled || endsWithHole(world, outbox)) return;
  look(world, outbox, host);
  for (; world.step < STEPS[called(world.shape)]; world.step++) await step(world, outbox, power);
}

async function step(world: World, outbox: Outbox, power: Power): Promise<void> {
  const { shape, step: n } = world;
  const flow = FLOWS[shape.flow];
  const points = flow.in[n % flow.in.length]! * (shape.durable ? 1 : BURST);
  for (let i = 0; i < points; i++) append(world, outbox);
  if (!shape.durable && n % 2 === 1) {
    await world.body.clock.advance(STAGE_MS);
    power.check();
    // Where there is room.
    if (shape.drop === "oldest") world.safe = world.appended;
  }
  if (n % flow.every === 0)
    finish(world, outbox, power, flow.out[n % flow.out.length]! * (shape.durable ? 1 : BURST));
  const { drops } = outbox;
  if (n % 5 === 4) world.reported.becomes(drops, power, () => outbox.dropsReported(drops));
}

function append(world: World, outbox: Outbox): void {
  world.appending = true;
  if (outbox.append(textOf(world.appended), undefined)) world.appended++;
  world.appending = false;
  world.safe = Math.max(world.safe, safeBelow(world));
}

const known: number[] = [];

function bytesOf(n: number): number {
  known[n] ??= padded(POINT_HEAD + textOf(n).length);
  return known[n];
}

/** What was appended last and is not more than what may be in memory only. */
function safeBelow({ shape, appended }: World): number {
  let n = appended;
  for (let bytes = shape.durable ? STAGE_BYTES : 0; bytes < STAGE_BYTES && n > 0; n--)
    bytes += bytesOf(n - 1);
  // One more record may have begun just below the limit.
  return shape.durable ? n : Math.max(0, n - 1);
}

/** The platform takes the first points, every third time it refuses one. */
function finish(world: World, outbox: Outbox, power: Power, most: number): void {
  const refuses = world.step % 9 === 3;
  const points = waitingNumbers(outbox, refuses ? 1 : most).length;
  const below = outbox.first + points;
  world.finished.becomes(world.finished.last + points, power, () => {
    if (refuses) world.refused.becomes(world.refused.last + points, power, () => outbox.dropRefused(below));
    else outbox.confirm(below);
  });
}

/**
 * If points are missing between others, those were not safe yet: the rest is in order, and they are
 * counted. The job ends then.
 */
function endsWithHole(world: World, outbox: Outbox): boolean {
  const { shape, finished, safe } = world;
  const found = waitingNumbers(outbox);
  if (shape.durable || found.length === outbox.waiting) return false;
  world.isHoled = true;
  for (let points = found; points.length > 0; points = waitingNumbers(outbox)) {
    if (points !== found) found.push(...points);
    outbox.confirm(outbox.first + points.length);
  }
  if (found.some((n, i) => n <= (found[i - 1] ?? -1))) throw new Error(`out of order: ${found.join()}`);
  const below = found.filter((n) => n < safe).length;
  if (finished.last + below + outbox.drops < safe)
    throw new Error(`${below} points and ${outbox.drops} drops, ${safe} safe`);
  return true;
}

/** What survived is what is known, and then known to be. */
function look(world: World, outbox: Outbox, { lines }: PoweredHost): void {
  const { shape, finished } = world;
  const found = waitingNumbers(outbox);
  const { full, refused, unreadable } = outbox.dropped;
  const lost = unreadable + (shape.drop === "oldest" ? full : 0);
  const errors = lines.filter(
    (line) => line.startsWith("error") && line !== STRANGE && !line.startsWith(LOST),
  );
  if (errors.length > 0) throw new Error(errors.join());
  // A sector whose points were just finished may be gone before the next header says that they
  // were.
  if (unreadable > world.unreadable + finished.last - finished.least + world.starts)
    throw new Error(`${unreadable} points could not be read`);
  if (shape.durable) world.refused.found("refused", refused);
  // What is turned away is counted in memory only.
  if (shape.durable && shape.drop === "oldest") world.reported.found("reported", outbox.reported);
  const first = found[0] ?? world.appended;
  if (found.some((n, i) => n !== first + i)) throw new Error(`out of order: ${found.join()}`);
  const end = first + found.length;
  const most = world.appended + (world.appending ? 1 : 0);
  const { safe } = world;
  if (found.length === 0) {
    if (finished.last + lost + world.starts < safe)
      throw new Error(`nothing waits; ${safe} safe, ${finished.last + lost} gone`);
    finished.set(first - lost);
  } else {
    if (end < safe || end > most) throw new Error(`ends at ${end}; ${safe} safe, ${most} appended`);
    finished.found("first", first - lost, world.starts);
  }
  Object.assign(world, { appended: end, safe: end, unreadable, appending: false, starts: 0 });
  world.refused.set(refused);
}

const called = ({ durable }: Shape) => (durable ? "durable" : "staged");

const made = (shape: Shape): Case<World> => ({
  name: `outbox/${Object.values({ ...shape, durable: called(shape) }).join("-")}`,
  begin: () => begin(shape),
  resume,
  // The next start finds it as the last left it.
  check: (world) => {
    world.step = STEPS.durable;
    return resume(world, new Power());
  },
});

const jobs = multiply(
  { drop: ["oldest", "newest"] as const, durable: [true, false], flow: ["through", "backlog"] as const },
  (values) => made({ ...values, before: "blank" }),
);
const strange = made({ drop: "oldest", durable: true, flow: "backlog", before: "strange" });

/** A queue that is filled, loses all its points at once, and goes on. */
interface Cleared {
  readonly body: PoweredDevice;
  phase: "fill" | "clear" | "go on";
  appended: number;
}

const beginCleared = (): Cleared => ({
  body: new PoweredDevice({ sectors: 40, sectorSize: 512 }),
  phase: "fill",
  appended: 0,
});

const FORGOTTEN = 20;

/**
 * All waiting points are forgotten, as by `reset()`: all are there or none is, and those of
 * afterwards are.
 */
const forgetting: Case<Cleared> = {
  name: "outbox/forget",
  begin: beginCleared,
  resume: (world, power) => {
    const host = world.body.start(power);
    const outbox = new Outbox(host, new Time(host), {});
    const found = waitingNumbers(outbox);
    const { phase, appended } = world;
    const may = phase === "clear" ? [0, appended] : [appended, appended + 1];
    if (!may.includes(found.length)) throw new Error(`${found.length} points wait, not ${may.join(" or ")}`);
    if (phase !== "clear") world.appended = found.length;
    if (found.some((n, i) => n !== i)) throw new Error(`out of order: ${found.join()}`);
    for (; world.phase === "fill" && world.appended < FORGOTTEN; world.appended++)
      outbox.append(textOf(world.appended), undefined);
    if (world.phase !== "go on") {
      world.phase = "clear";
      outbox.forget();
      world.phase = "go on";
      world.appended = 0;
    }
    for (; world.appended < FORGOTTEN; world.appended++) outbox.append(textOf(world.appended), undefined);
  },
};

const WAITING = 30;

/**
 * The queue is erased by somebody else: the points that waited are counted once, and later ones are
 * there.
 */
const emptied: Case<Cleared> = {
  name: "outbox/emptied",
  begin: beginCleared,
  resume: (world, power) => {
    const open = () => {
      const host = world.body.start(power);
      return new Outbox(host, new Time(host), {});
    };
    if (world.phase === "fill") {
      const outbox = open();
      world.appended = waitingNumbers(outbox).length;
      while (world.appended < WAITING) {
        outbox.append(textOf(world.appended), undefined);
        world.appended++;
      }
      outbox.saveAll(true);
      world.phase = "clear";
    }
    if (world.phase === "clear") {
      world.body.blocks.bytes.fill(0xff);
      world.phase = "go on";
      world.appended = 0;
    }
    const outbox = open();
    const { unreadable } = outbox.dropped;
    // What a write that was cut left may count as one more.
    if (unreadable < WAITING || unreadable > WAITING + world.body.starts)
      throw new Error(`${unreadable} points are counted as lost, not ${WAITING}`);
    const found = waitingNumbers(outbox).length;
    if (found < world.appended || found > world.appended + 1)
      throw new Error(`${found} points wait, not ${world.appended}`);
    for (world.appended = found; world.appended < WAITING; world.appended++)
      outbox.append(textOf(world.appended), undefined);
  },
};

export const outboxCases: readonly Case[] = [...jobs, strange, forgetting, emptied];
