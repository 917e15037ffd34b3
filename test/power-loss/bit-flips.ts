// Bits that change by themselves: of what a device keeps, each byte is damaged in turn, and the
// next start must deliver or count every point that was accepted.
import { Outbox } from "../../src/agent/queue/outbox.js";
import { Time } from "../../src/agent/time/time.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import type { Dice } from "../simulation/dice.js";
import { textOf, waitingNumbers } from "../src/agent/queue/rig.js";

/** A queue as a run left it, and what the application and the platform know of it. */
export interface Left {
  readonly name: string;
  readonly flash: Uint8Array;
  readonly sectorSize: number;
  readonly store: ReadonlyMap<string, Uint8Array>;
  readonly drop: "oldest" | "newest";
  /** Points that `append` accepted, and those that the platform took or refused. */
  readonly accepted: number;
  readonly finished: number;
}

type Step = readonly [append: number, confirm: number, refuse?: number];

interface Job {
  readonly name: string;
  readonly sectors: number;
  readonly sectorSize?: number;
  readonly drop?: "oldest" | "newest";
  /** The run ends with `stop()`, not with the power. */
  readonly isStopped?: boolean;
  readonly steps: readonly Step[];
}

const often = (times: number, ...steps: Step[]): Step[] =>
  Array.from({ length: times }, (_, i) => steps[i % steps.length]!);

const JOBS: readonly Job[] = [
  { name: "one sector", sectors: 4, sectorSize: 4096, steps: [[60, 0]] },
  { name: "one sector, stopped", sectors: 4, sectorSize: 4096, isStopped: true, steps: [[60, 0]] },
  { name: "some delivered", sectors: 4, sectorSize: 4096, steps: often(6, [10, 4], [9, 0, 1]) },
  { name: "all delivered", sectors: 4, steps: often(4, [6, 6]) },
  { name: "several sectors", sectors: 8, steps: [[40, 0]] },
  { name: "round and round", sectors: 5, steps: often(30, [6, 4], [4, 5], [3, 3, 1]) },
  { name: "the oldest dropped", sectors: 4, steps: often(12, [9, 2]) },
  { name: "the newest dropped", sectors: 4, drop: "newest", steps: often(12, [9, 3]) },
];

/** The queues that are damaged. */
export function queuesLeft(): Left[] {
  return JOBS.map(({ name, sectors, sectorSize = 512, drop = "oldest", isStopped, steps }) => {
    const flash = new FakeFlash(sectors * sectorSize, sectorSize);
    const store = new FakeStore();
    const host = fakeHost({ blocks: flash, store, slot: new FakeSlot(0, 4096) });
    const outbox = new Outbox(host, new Time(host), { drop });
    let accepted = 0;
    let finished = 0;
    for (const [append, confirm, refuse = 0] of steps) {
      for (let i = 0; i < append; i++) if (outbox.append(textOf(accepted), undefined)) accepted++;
      const points = Math.min(confirm, outbox.waiting);
      outbox.confirm(outbox.first + points);
      if (refuse > 0) outbox.dropRefused(outbox.first + refuse);
      finished += points;
    }
    if (isStopped) outbox.saveAll(true);
    return { name, flash: flash.bytes, sectorSize, store: store.values, drop, accepted, finished };
  });
}

/**
 * A start on what is left after the damage: delivers all, records some more, and checks that these
 * arrive after one more start.
 */
export function survives(left: Left, flash: Uint8Array, store: ReadonlyMap<string, Uint8Array>): number {
  const { sectorSize, drop, accepted, finished } = left;
  const kept = new FakeStore(new Map(store));
  const start = (bytes: Uint8Array) => {
    const blocks = new FakeFlash(bytes.length, sectorSize, bytes);
    const host = fakeHost({ blocks, store: kept, slot: new FakeSlot(0, 4096) });
    return { blocks, outbox: new Outbox(host, new Time(host), { drop }) };
  };
  const first = start(flash.slice());
  const delivered = drain(first.outbox);
  if (delivered.some((n, i) => n >= accepted || n <= (delivered[i - 1] ?? -1)))
    throw new Error(`out of order: ${delivered.join()}`);
  // What was delivered before may come again.
  const again = delivered.filter((n) => n < finished).length;
  const { full, refused, unreadable } = first.outbox.dropped;
  // Points turned away were never accepted.
  const drops = refused + unreadable + (drop === "oldest" ? full : 0);
  const missing = accepted - finished - (delivered.length - again);
  if (drops < missing) throw new Error(`${missing - drops} points are lost uncounted`);
  for (let n = accepted; n < accepted + 3; n++) first.outbox.append(textOf(n), undefined);
  const next = drain(start(first.blocks.bytes).outbox);
  if (next.slice(-3).join() !== [accepted, accepted + 1, accepted + 2].join())
    throw new Error(`recorded afterwards: ${next.join()}`);
  if (first.blocks.violations.length > 0) throw new Error(first.blocks.violations.join());
  return drops - missing;
}

function drain(outbox: Outbox): number[] {
  const found: number[] = [];
  for (let rounds = 0; outbox.waiting > 0; rounds++) {
    if (rounds > 500) throw new Error("what waits comes to no end");
    const points = waitingNumbers(outbox);
    found.push(...points);
    outbox.confirm(outbox.first + points.length);
  }
  return found;
}

const EVERY_BIT = [0, 1, 2, 3, 4, 5, 6, 7];

export interface Flipped {
  runs: number;
  /** Most points that were counted and not lost. */
  over: number;
  readonly problems: string[];
}

/** Damages each byte of `bytes`: one bit that `dice` picks, or all eight, one at a time. */
function flipEach(
  name: string,
  bytes: Uint8Array,
  dice: Dice | undefined,
  survives: (damaged: Uint8Array) => number,
  into: Flipped,
): void {
  for (let at = 0; at < bytes.length; at++) {
    const isErased = bytes[at] === 0xff;
    // Of erased bytes a sample does with some, and one bit of each is as good as all.
    if (dice && isErased && dice.below(64) > 0) continue;
    for (const bit of dice ? [dice.below(8)] : isErased ? [at % 8] : EVERY_BIT) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << bit;
      into.runs++;
      try {
        into.over = Math.max(into.over, survives(damaged));
      } catch (error) {
        into.problems.push(`${name}, bit ${bit} of byte ${at}: ${(error as Error).message}`);
      }
    }
  }
}

/** The flips of a queue's sectors and of its values in the store. */
export function flipQueue(left: Left, dice?: Dice): Flipped {
  const flipped: Flipped = { runs: 0, over: 0, problems: [] };
  flipEach(left.name, left.flash, dice, (flash) => survives(left, flash, left.store), flipped);
  for (const [key, value] of left.store)
    flipEach(
      `${left.name}, ${key}`,
      value,
      dice,
      (damaged) => survives(left, left.flash, new Map([...left.store, [key, damaged]])),
      flipped,
    );
  return flipped;
}
