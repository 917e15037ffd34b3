// The power goes at each change while a CA is taken or dropped: the device comes back, trusts nobody
// else, and ends as it would have, also if an earlier image runs in between.
import test from "ava";
import { renewTrust } from "../../../extras/trust/trust.js";
import { idOf } from "../../../tools/cli/commands/trust/announce.js";
import { fakeHost } from "../../fakes/host.js";
import { KINDS, type PowerLoss, PowerLossError } from "../../fakes/power.js";
import { EarlierImage, earlierTrust } from "./earlier-image.js";
import { MINUTE, short, World } from "./world.js";
import { Authorities, der } from "./x509/authority.js";
import { changes, type Shown } from "./x509/changes.js";

const made = new Authorities();
const { first, second, shown } = changes(made);
const foreign: Shown = { ...shown.ofStranger, by: [] };
test.after.always(() => made.remove());

interface Way {
  readonly title: string;
  /** What the device is before the start in which the power goes. */
  prepare(world: World): Promise<void>;
  change(world: World): void;
  /** Short ids of the CAs that it trusts at the end. */
  readonly end: readonly string[];
  /** A CA that is dropped, by what the server would show of it. */
  readonly gone?: Shown;
}

async function isOnline(world: World): Promise<void> {
  world.start();
  await world.reaches();
  await world.clock.advance(MINUTE);
}

async function isAdded(world: World): Promise<void> {
  await isOnline(world);
  await world.pushed({ ca: [second] });
  world.shown = shown.ofSecond;
}

const WAYS: readonly Way[] = [
  {
    title: "taken",
    prepare: isOnline,
    change: (world) => void world.push({ ca: [second] }),
    end: [short(first), short(second)],
  },
  {
    title: "dropped",
    prepare: isAdded,
    change: (world) => void world.push({ drop: ["old"] }),
    end: [short(second)],
    gone: shown.ofFirst,
  },
  {
    title: "replaced by another, after it was added",
    prepare: async (world) => {
      await isAdded(world);
      await world.pushed({ drop: ["old"] });
      world.shown = shown.crossSigned;
    },
    change: (world) => void world.push({ ca: [first], drop: ["old"] }),
    end: [short(first)],
  },
  {
    title: "read from an earlier image's record",
    prepare: async (world) => {
      const { store } = world.body;
      const image = new EarlierImage({ ...fakeHost(), store }, [der(first)], false);
      image.take(1, [der(second)], [idOf(der(first))]);
      image.drop();
      world.shown = shown.ofSecond;
    },
    change: () => {},
    end: [short(second)],
    gone: shown.ofFirst,
  },
];

async function live(way: Way, loss: PowerLoss | undefined): Promise<World> {
  const world = new World(shown.ofFirst, [first]);
  await way.prepare(world);
  await world.end();
  // Counted, and cut, are the changes from this start on.
  try {
    world.start(loss);
  } catch (error) {
    if (!(error instanceof PowerLossError)) throw error;
    return world;
  }
  await world.reaches();
  way.change(world);
  await world.clock.advance(MINUTE);
  return world;
}

for (const way of WAYS)
  test(`a CA is ${way.title} with the power gone at each write`, async (t) => {
    const whole = await live(way, undefined);
    const { changes: all } = whole.power;
    t.deepEqual(whole.trusted, way.end);
    await whole.end();
    const isWrite = (name: string): boolean => /^(?:store|forget) trust/.test(name);
    // Beside each write, every twentieth word to or from the platform.
    const places = all.flatMap((change, at) =>
      isWrite(change.name) || at % 20 === 0 ? [{ at, ...change }] : [],
    );
    t.true(all.some(({ name }) => isWrite(name)));
    const counted = { losses: 0, shutOut: 0, foreign: 0, dropped: 0 };
    for (const { at, kinds, name } of places)
      for (const kind of KINDS.filter((one) => kinds.includes(one)))
        for (const next of way.gone ? [renewTrust, earlierTrust] : [renewTrust]) {
          const world = await live(way, { at, kind });
          counted.losses++;
          const where = `${kind} change ${at}, ${name}`;
          world.renewTrust = next;
          const serves = world.shown!;
          if (await world.isReached(foreign)) counted.foreign++;
          if (!(await world.isReached(serves))) counted.shutOut++;
          world.renewTrust = renewTrust;
          await world.restart();
          if (!(await world.reaches())) counted.shutOut++;
          await world.clock.advance(MINUTE);
          t.deepEqual(world.trusted, way.end, where);
          if (way.gone && (await world.isReached(way.gone))) counted.dropped++;
          await world.end();
          const left = [...world.body.store.values.keys()].filter((key) => /^trust-\d$/.test(key));
          t.true(left.length <= 1, `${where}: ${left.join()}`);
          counted.foreign += world.accepted;
        }
    t.log(counted);
    t.true(counted.losses > 4);
    t.deepEqual(counted, { ...counted, shutOut: 0, foreign: 0, dropped: 0 });
  });
