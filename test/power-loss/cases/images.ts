// The queue under two images in turn, an older one and this one: an update, a roll-back, and both again.
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
import type { Power } from "../../fakes/power.js";
import { PoweredDevice } from "../../fakes/powered-device.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { OldOutbox, OldTime } from "../older-queue.js";
import type { Case } from "../runner.js";

const IMAGES = { old: { Outbox: OldOutbox, Time: OldTime }, new: { Outbox, Time } };
type Image = keyof typeof IMAGES;

interface World {
  readonly body: PoweredDevice;
  readonly images: readonly Image[];
  /** Steps that are done, of all images. */
  step: number;
  /** Points that `append` accepted. */
  readonly accepted: Set<number>;
  readonly delivered: Set<number>;
  refused: number;
  /** As the last start found them. */
  drops: number;
}

/** Points in, out and refused at each step of an image. */
const STEPS: readonly [append: number, confirm: number, refuse: number][] = [
  [9, 4, 0],
  [7, 0, 1],
  [12, 15, 0],
  [8, 3, 0],
];

const begin = (images: readonly Image[]): World => ({
  body: new PoweredDevice({ sectors: 8, sectorSize: 512 }),
  images,
  step: 0,
  accepted: new Set(),
  delivered: new Set(),
  refused: 0,
  drops: 0,
});

function start(world: World, power: Power, image: Image): Outbox {
  const made = IMAGES[image];
  const host = world.body.start(power);
  return new made.Outbox(host, new made.Time(host), {});
}

function take(world: World, outbox: Outbox, most: number): void {
  const points = waitingNumbers(outbox, most);
  for (const n of points) world.delivered.add(n);
  outbox.confirm(outbox.first + points.length);
}

function resume(world: World, power: Power): void {
  let outbox: Outbox | undefined;
  for (; world.step < STEPS.length * world.images.length; world.step++) {
    if (world.step % STEPS.length === 0) outbox?.close(true);
    if (!outbox || world.step % STEPS.length === 0)
      outbox = start(world, power, world.images[Math.floor(world.step / STEPS.length)]!);
    const [append, confirm, refuse] = STEPS[world.step % STEPS.length]!;
    for (let i = 0; i < append; i++) {
      // The numbers of points that a power loss cut are not used again.
      const n = world.accepted.size + world.body.starts * 1000;
      if (outbox.append(textOf(n), undefined)) world.accepted.add(n);
    }
    take(world, outbox, confirm);
    if (refuse > 0 && outbox.waiting >= refuse) {
      waitingNumbers(outbox, refuse);
      outbox.dropRefused(outbox.first + refuse);
    }
  }
  outbox ??= start(world, power, world.images.at(-1)!);
  for (let rounds = 0; outbox.waiting > 0; rounds++) {
    if (rounds > 100) throw new Error("what waits comes to no end");
    take(world, outbox, 50);
  }
  world.drops = outbox.drops;
}

function check({ accepted, delivered, drops, body, images }: World): void {
  const missing = [...accepted].filter((n) => !delivered.has(n)).length;
  if (drops < missing) throw new Error(`${missing - drops} points are lost uncounted`);
  const refused = images.length;
  if (drops > missing + refused + body.starts + 20)
    throw new Error(`${drops} points were counted, ${missing} are missing`);
}

const made = (...images: Image[]): Case<World> => ({
  name: `images/${images.join("-")}`,
  begin: () => begin(images),
  resume,
  check,
});

export const imagesCases: readonly Case[] = [
  made("old", "new"),
  made("new", "old"),
  made("old", "new", "old", "new"),
];
