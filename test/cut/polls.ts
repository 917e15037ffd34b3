// What was found out about the longest poll that passes, over restarts.
import type { Power } from "./power.js";
import type { Case } from "./runner.js";
import { asked, World } from "./world.js";

/** Whatever stands between cuts polls after so long. */
const PASSES_MS = 15_000;
const POLL = /\/rpc\?timeout=(\d+)$/;
const POLLS = 4;

const msOf = (path: string) => Number(POLL.exec(path)?.[1]);

function begin(): World {
  const world = new World("deployed");
  world.platform.fault = (request) => {
    if (!(msOf(request.path) > PASSES_MS)) return undefined;
    world.body.clock.timer(PASSES_MS, () => request.reply(504));
    return "hang";
  };
  return world;
}

async function live(world: World, power: Power): Promise<void> {
  const kept = world.stored("poll");
  const before = asked(world, POLL).length;
  const { agent } = world.boot(power, { connections: 1 });
  agent.start();
  const polls = () => asked(world, POLL).slice(before);
  await world.until(power, "a poll", () => polls().length > 0);
  const first = msOf(polls()[0]!.path);
  const ceiling = Number(kept?.ceilingMs ?? Number.POSITIVE_INFINITY);
  if (!(ceiling > 0) || first > ceiling)
    throw new Error(`asked for ${first} ms; ${ceiling} ms were known to pass`);
  const passing = () => polls().filter(({ path }) => msOf(path) <= PASSES_MS);
  await world.until(power, "polls that pass", () => passing().length >= POLLS, 10 * 60_000);
}

export const pollsCuts: readonly Case[] = [{ name: "polls", begin, live } satisfies Case<World>];
