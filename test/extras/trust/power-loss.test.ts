// The power goes at each change while an authority is taken, or dropped: the device comes back, trusts nobody else, and ends as it would have.
import test from "ava";
import { idOf } from "../../../tools/cli/commands/trust/announce.js";
import { KINDS, type PowerLoss } from "../../power-loss/power.js";
import { der, MINUTE, World } from "./world.js";
import { Authorities } from "./x509/authority.js";
import { changes, type Shown } from "./x509/changes.js";

const made = new Authorities();
const { first, second, shown } = changes(made);
const foreign: Shown = { ...shown.ofStranger, by: [] };
test.after.always(() => made.remove());

const ids = [first, second].map((one) => idOf(der(one)).slice(0, 16));

/** Stops at the change `loss`, or goes through. */
interface Way {
  readonly title: string;
  /** Until something is announced to a device that is there. */
  prepare(world: World): Promise<void>;
  announce(world: World): void;
  /** Whom it trusts at the end. */
  readonly end: readonly string[];
}

const WAYS: readonly Way[] = [
  {
    title: "taken",
    prepare: async () => {},
    announce: (world) => void world.push({ ca: [second] }),
    end: ids,
  },
  {
    title: "dropped",
    prepare: async (world) => {
      world.push({ ca: [second] });
      await world.clock.advance(MINUTE);
      world.shown = shown.ofSecond;
    },
    announce: (world) => void world.push({ drop: ["old"] }),
    end: ids.slice(1),
  },
  {
    title: "replaced by another, for one that was added before",
    prepare: async (world) => {
      world.push({ ca: [second] });
      await world.clock.advance(MINUTE);
      world.shown = shown.ofSecond;
      world.push({ drop: ["old"] });
      await world.clock.advance(MINUTE);
      world.shown = shown.crossSigned;
    },
    announce: (world) => void world.push({ ca: [first], drop: ["old"] }),
    end: ids.slice(0, 1),
  },
];

async function lifeWith(way: Way, loss: PowerLoss | undefined): Promise<World> {
  const world = new World(shown.ofFirst, [first]);
  world.start();
  await world.reaches();
  await world.clock.advance(MINUTE);
  await way.prepare(world);
  await world.end();
  // Counted, and cut, are the changes from this start on.
  world.start(loss);
  await world.reaches();
  way.announce(world);
  await world.clock.advance(MINUTE);
  return world;
}

for (const way of WAYS)
  test(`an authority is ${way.title} with the power gone at each write`, async (t) => {
    const whole = await lifeWith(way, undefined);
    const { changes: all } = whole.power;
    t.deepEqual(
      whole.state.trusts.map(({ sha256 }) => sha256),
      way.end,
    );
    await whole.end();
    const writes = all.flatMap(({ name }, at) => (/^(?:store|forget) trust/.test(name) ? [at] : []));
    t.true(writes.length > 0);
    // Beside each write, every twentieth word to or from the platform.
    const places = all.flatMap((change, at) =>
      writes.includes(at) || at % 20 === 0 ? [{ at, ...change }] : [],
    );
    const counted = { losses: 0, shutOut: 0, foreign: 0 };
    for (const { at, kinds } of places)
      for (const kind of KINDS.filter((one) => kinds.includes(one))) {
        const world = await lifeWith(way, { at, kind });
        counted.losses++;
        const where = `${kind} change ${at}, ${all[at]?.name}`;
        await world.end();
        const before = world.shown;
        world.shown = foreign;
        world.start();
        if (await world.reaches(MINUTE)) counted.foreign++;
        world.shown = before;
        await world.restart();
        if (!(await world.reaches())) counted.shutOut++;
        await world.clock.advance(MINUTE);
        t.deepEqual(
          world.state.trusts.map(({ sha256 }) => sha256),
          way.end,
          where,
        );
        await world.end();
        const left = [...world.body.store.values.keys()].filter((key) => /^trust-\d$/.test(key));
        t.true(left.length <= 1, `${where}: ${left.join()}`);
        counted.foreign += world.accepted;
      }
    t.log(counted);
    t.deepEqual(counted, { ...counted, shutOut: 0, foreign: 0 });
  });
