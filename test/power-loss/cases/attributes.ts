// Client attributes on their way there, shared attributes on their way here.
import type { Power } from "../../fakes/power.js";
import { type Case, multiply } from "../runner.js";
import { WAYS, type Way, World } from "../world.js";

const CONNECTIONS = [1, 3] as const;
const ATTRIBUTES = /\/attributes$/;

interface Shape {
  readonly way: Way;
  readonly connections: 1 | 3;
}

const called = ({ way, connections }: Shape) => `${way}-${connections}`;

/** What `publish` returned for is not lost. */
interface Publishing extends World {
  readonly shape: Shape;
  published: number;
}

const PUBLISHED = [1, 2, 3, 4];

async function publish(world: Publishing, power: Power): Promise<void> {
  const { agent } = world.boot(power, { connections: world.shape.connections });
  agent.start();
  const there = () =>
    world.platform.core.devices.list().length > 0 && world.platform.attributes(world.device).count;
  const arrived = async () => {
    const { published } = world;
    if (published > 0) await world.until(power, `attribute ${published}`, () => Number(there()) >= published);
  };
  await arrived();
  for (const count of PUBLISHED) {
    if (count <= world.published) continue;
    agent.attributes.publish({ count, [`c${count}`]: "x" });
    world.published = count;
    // Some wait for each other, some don't.
    if (count % 2 === 0) await arrived();
  }
  await arrived();
}

const publishing = (shape: Shape): Case<Publishing> => ({
  name: `attributes/client-${called(shape)}`,
  begin: () => {
    const spoils = ({ path, method }: { path: string; method: string }) =>
      method === "POST" && ATTRIBUTES.test(path);
    return Object.assign(new World(shape.way, spoils), { shape, published: 0 });
  },
  resume: publish,
  check: ({ platform, device }) => {
    const values = platform.attributes(device);
    for (const count of PUBLISHED)
      if (values[`c${count}`] !== "x") throw new Error(`c${count} was published and is not there`);
    if (values.count !== PUBLISHED.length) throw new Error(`count is ${values.count}`);
  },
});

/**
 * The application sees what the operator sets, after a start nothing older than what it saw before.
 */
interface Watching extends World {
  readonly shape: Shape;
  /** Changes made by the operator, and the newest of them that the application was notified of. */
  changes: number;
  seen: number;
}

/** The value after each change; undefined: deleted. */
const CHANGES = [undefined, "a", "b", undefined, "c"];

async function watch(world: Watching, power: Power): Promise<void> {
  const { agent } = world.boot(power, { connections: world.shape.connections });
  let first = true;
  const view: unknown[] = [];
  agent.attributes.subscribe("interval", (value) => {
    if (first) view.push(value);
    // Each start is told again that the attribute does not exist.
    else if (power.on && (value !== undefined || CHANGES[world.seen] !== undefined))
      notified(world, value, true);
  });
  first = false;
  // Without a call there is no value.
  if (world.changes > 0) notified(world, view[0], false);
  agent.start();
  if (world.changes === 0) {
    await world.until(power, "online", () => agent.state === "online");
    world.changes = 1;
  }
  for (;;) {
    await world.until(
      power,
      `change ${world.changes - 1}`,
      () => world.seen === world.changes - 1,
      2 * 60_000,
    );
    if (world.changes === CHANGES.length) return;
    const value = CHANGES[world.changes];
    if (value === undefined) world.platform.deleteShared(world.device, ["interval"]);
    else world.platform.setShared(world.device, { interval: value });
    world.changes++;
  }
}

function notified(world: Watching, value: unknown, isNews: boolean): void {
  const { seen, changes } = world;
  const now = CHANGES.slice(0, changes).lastIndexOf(value as string | undefined);
  // The change that was under way may be kept, and its notification not.
  const least = isNews ? seen + 1 : seen;
  if (now < least) world.problems.push(`the application was notified of ${value} after change ${seen}`);
  else world.seen = now;
}

const watching = (shape: Shape): Case<Watching> => ({
  name: `attributes/shared-${called(shape)}`,
  begin: () => {
    const spoils = ({ method, path }: { method: string; path: string }) =>
      method === "GET" && path.includes("attributes");
    return Object.assign(new World(shape.way, spoils), { shape, changes: 0, seen: 0 });
  },
  resume: watch,
});

const lists = { way: WAYS, connections: CONNECTIONS };

export const attributesCases: readonly Case[] = [
  ...multiply(lists, publishing),
  ...multiply(lists, watching),
];
