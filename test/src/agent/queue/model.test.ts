// The outbox against a reference: points are numbers in a row, and two of them say which wait, whatever happens to the power.
import test from "ava";
import fc from "fast-check";
import { Outbox } from "../../../../src/agent/queue/outbox.js";
import { OPENING_BYTES, POINT_HEAD, STATUS_BYTES, whole } from "../../../../src/agent/queue/record.js";
import { Time } from "../../../../src/agent/time/time.js";
import { Body } from "../../../power-loss/device.js";
import { KINDS, Power, type PowerLoss, PowerLossError } from "../../../power-loss/power.js";
import { upTo } from "../telemetry/rig.js";
import { textOf, waitingNumbers } from "./rig.js";

const RUNS = 100;
const SECTOR = 1024;
const RING = 1024;
const sizeOf = (n: number): number => whole(POINT_HEAD + textOf(n).length);
/** Longest record, and most of them in the ring. */
const LONGEST = 75;
const MOST_IN_RING = Math.floor(RING / sizeOf(0));

interface Shape {
  readonly sectors: number;
  readonly drop: "oldest" | "newest";
  readonly durable: boolean;
}

// The reference: the points from `first` to below `next` wait, and so many were dropped.
class Model {
  first = 0;
  next = 0;
  full = 0;
  refused = 0;
  unreadable = 0;
  // What a power loss may leave: the first that waits is `kept` to `upTo`, those below `safe` are there, none from `most` on is.
  kept = 0;
  upTo = 0;
  safe = 0;
  most = 0;
  keptRefused = 0;
  mostRefused = 0;
  // Bytes that went into the outbox so far, and before each point. A sector that was torn is as good as full.
  spent = 0;
  torn = 0;
  readonly spentAt: number[] = [];

  get waiting(): number[] {
    return upTo(this.next, this.first);
  }
}

class Real {
  readonly shape: Shape;
  readonly body: Body;
  power = new Power();
  outbox: Outbox;

  constructor(shape: Shape) {
    this.shape = shape;
    this.body = new Body(shape.sectors, SECTOR);
    this.outbox = this.#start();
  }

  /** The next start, whose power goes at `loss`. */
  restart(loss?: PowerLoss): void {
    this.power = new Power(loss);
    this.outbox = this.#start();
  }

  #start(): Outbox {
    const host = this.body.start(this.power);
    const { drop, durable } = this.shape;
    return new Outbox(host, new Time(host), { drop, durable, bufferBytes: RING });
  }
}

const due = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

/** Those that went for want of room are the oldest, and there was none. */
function account(model: Model, { outbox, shape }: Real): number {
  const lost = outbox.dropped.full - model.full;
  if (lost === 0) return 0;
  model.full += lost;
  if (shape.drop === "oldest") model.first += lost;
  const used = model.spent - (model.spentAt[model.first] ?? model.spent);
  const sectors = (shape.sectors - 2) * (SECTOR - OPENING_BYTES - LONGEST);
  // Without the last that went, or with the one that did not come, there was no room.
  const ring = RING - LONGEST - sizeOf(shape.drop === "oldest" ? model.first - 1 : model.next);
  const least = shape.sectors > 0 ? sectors : ring;
  if (shape.sectors > 0) model.spent += STATUS_BYTES;
  due(used >= least, `${lost} dropped, though only ${used} bytes were taken`);
  return lost;
}

function record(model: Model, real: Real): boolean {
  const { outbox, shape } = real;
  model.spentAt[model.next] = model.spent;
  model.most = model.next + 1;
  const accepted = outbox.append(textOf(model.next), undefined);
  // Only now: where a record is torn once more, all that was torn lies before the point that comes at last.
  model.spent += model.torn;
  model.torn = 0;
  if (accepted) model.spent += sizeOf(model.next++);
  const lost = account(model, real);
  if (shape.drop === "newest") due(lost === (accepted ? 0 : 1), `accepted: ${accepted}, ${lost} dropped`);
  else due(accepted, "turned away");
  Object.assign(model, { most: model.next, upTo: model.first });
  if (shape.sectors > 0) model.safe = Math.max(model.safe, model.next - (shape.durable ? 0 : MOST_IN_RING));
  return lost === 0;
}

/** The platform takes or refuses the first points. */
function finish(model: Model, { outbox, power, shape }: Real, most: number, refused: boolean): void {
  const points = Math.min(most, model.next - model.first);
  const changes = power.changes.length;
  model.upTo += points;
  if (refused) model.mostRefused += points;
  if (refused) outbox.refuse(outbox.first + points);
  else outbox.confirm(outbox.first + points);
  model.first = model.upTo;
  model.refused = model.mostRefused;
  if (shape.sectors > 0) model.spent += STATUS_BYTES;
  // There may be no room to say so on flash: while the newest go, or after a power loss closed the sector that was free.
  if (power.changes.length > changes) Object.assign(model, { kept: model.first, keptRefused: model.refused });
}

function look(model: Model, { outbox }: Real, most = Number.POSITIVE_INFINITY): void {
  due(outbox.waiting === model.next - model.first, `${outbox.waiting} wait`);
  due(outbox.dropped.refused === model.refused, `${outbox.dropped.refused} refused`);
  const found = waitingNumbers(outbox, most).join();
  due(found === model.waiting.slice(0, most).join(), `${found} wait, not ${model.waiting.join()}`);
}

/** What the next start finds is what may be left, and from then on what is. */
function survive(model: Model, real: Real, loss?: PowerLoss): void {
  const { drop } = real.shape;
  try {
    real.restart(loss);
  } catch (error) {
    if (!(error instanceof PowerLossError)) throw error;
    // The start that the power loss ended may have torn a sector of its own.
    model.torn += SECTOR;
    real.restart();
  }
  const { full, refused, unreadable } = real.outbox.dropped;
  const found = waitingNumbers(real.outbox);
  const gone = drop === "oldest" ? full - model.full : 0;
  const first = found[0] ?? model.most;
  const next = first + found.length;
  due(found.join() === upTo(next, first).join(), `out of order: ${found.join()}`);
  due(gone >= 0, `${full} dropped, before ${model.full}`);
  if (found.length === 0) due(model.upTo + gone >= model.safe, `nothing waits, ${model.safe} are safe`);
  else {
    due(
      first >= model.kept && first <= model.upTo + gone,
      `begins at ${first}, not ${model.kept} to ${model.upTo}`,
    );
    due(next >= model.safe && next <= model.most, `ends at ${next}, not ${model.safe} to ${model.most}`);
  }
  // What is finished may be erased before a header says that it is. A write that each power loss cut counts as a point.
  due(unreadable - model.unreadable <= model.upTo - model.kept + 2, `${unreadable} can't be read`);
  due(refused >= model.keptRefused && refused <= model.mostRefused, `${refused} refused`);
  Object.assign(model, { first, kept: first, upTo: first, next, safe: next, full, unreadable });
  if (found.length === real.outbox.waiting) model.most = next;
  Object.assign(model, { refused, keptRefused: refused, mostRefused: refused });
  model.torn += SECTOR;
  if (found.length < real.outbox.waiting) drain(model, real);
}

/** A write of several points was torn in its middle: those behind the gap wait as well. All go out. */
function drain(model: Model, { outbox }: Real): void {
  Object.assign(model, { upTo: model.most });
  let last = -1;
  while (outbox.waiting > 0) {
    const found = waitingNumbers(outbox);
    due(
      found.every((n, i) => n > (found[i - 1] ?? last) && n < model.most),
      `out of order: ${found}`,
    );
    last = found.at(-1) ?? last;
    outbox.confirm(outbox.first + found.length);
  }
  const { full, unreadable } = outbox.dropped;
  const { most } = model;
  Object.assign(model, { first: most, kept: most, next: most, safe: most, full, unreadable });
}

type Command = fc.Command<Model, Real>;

function command(name: string, run: (model: Model, real: Real) => void): Command {
  return {
    check: () => true,
    run: (model, real) => {
      try {
        run(model, real);
      } catch (error) {
        if (!(error instanceof PowerLossError)) throw error;
        survive(model, real);
      }
      look(model, real, 3);
      due(real.body.flash.violations.length === 0, real.body.flash.violations.join());
    },
    toString: () => name,
  };
}

const COMMANDS: fc.Arbitrary<Command>[] = [
  fc.nat(14).map((count) =>
    command(`record ${count}`, (model, real) => {
      for (let i = 0; i < count; i++) record(model, real);
    }),
  ),
  fc.constant(
    command("record until it is full", (model, real) => {
      while (record(model, real));
    }),
  ),
  fc.nat(14).map((count) => command(`confirm ${count}`, (model, real) => finish(model, real, count, false))),
  fc.nat(2).map((count) => command(`refuse ${count}`, (model, real) => finish(model, real, count, true))),
  fc.constant(command("look", (model, real) => look(model, real))),
];

const restart = (loss: PowerLoss | undefined): Command =>
  command(
    `the power goes${loss ? `, and again at change ${loss.at}, what it does left as ${loss.kind}` : ""}`,
    (model, real) => survive(model, real, loss),
  );
const sync = command("bring all to flash", (model, real) => {
  real.outbox.sync();
  account(model, real);
  model.upTo = model.first;
  if (real.shape.drop === "oldest") model.safe = model.next;
});
const ON_FLASH: fc.Arbitrary<Command>[] = [
  fc.option(fc.record({ at: fc.nat(60), kind: fc.constantFrom(...KINDS) }), { nil: undefined }).map(restart),
  fc.constant(sync),
];

for (const drop of ["oldest", "newest"] as const) {
  for (const [called, sectors, durable] of [
    ["in memory", 0, true],
    ["on 2 sectors", 2, true],
    ["on 6 sectors", 6, true],
    ["on 2 sectors, not at once", 2, false],
    ["on 6 sectors, not at once", 6, false],
  ] as const) {
    test(`the outbox ${called} does what its reference does, with drop ${drop}`, (t) => {
      const commands = sectors > 0 ? [...COMMANDS, ...ON_FLASH] : COMMANDS;
      fc.assert(
        fc.property(fc.commands(commands, { maxCommands: 60, size: "max" }), (run) => {
          fc.modelRun(() => ({ model: new Model(), real: new Real({ sectors, drop, durable }) }), run);
        }),
        { numRuns: RUNS, includeErrorInReport: true },
      );
      t.pass();
    });
  }
}
