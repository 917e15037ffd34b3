// What was found out about the longest poll that passes, over restarts.
import type { Power } from "../../fakes/power.js";
import type { Case } from "../runner.js";
import { requestsTo, World } from "../world.js";

/** Whatever stands between cuts polls after so long. */
const PASSES_MS = 15_000;
const POLL = /\/rpc\?timeout=(\d+)$/;
const POLLS = 4;

const msOf = (path: string) => Number(POLL.exec(path)?.[1]);

function begin(): World {
  const world = new World();
  world.platform.fault = (request) => {
    if (!(msOf(request.path) > PASSES_MS)) return undefined;
    world.body.clock.timer(PASSES_MS, () => request.reply(504));
    return "hang";
  };
  return world;
}

async function resume(world: World, power: Power): Promise<void> {
  const before = requestsTo(world, POLL);
  const isKnown = before.some(({ path }) => msOf(path) <= PASSES_MS);
  const { agent } = world.boot(power, { connections: 1 });
  agent.start();
  const polls = () => requestsTo(world, POLL).slice(before.length);
  await world.until(power, "a poll", () => polls().length > 0);
  const first = msOf(polls()[0]!.path);
  if (isKnown && first > PASSES_MS)
    throw new Error(`asked for ${first} ms; no more than ${PASSES_MS} ms pass`);
  const passing = () => polls().filter(({ path }) => msOf(path) <= PASSES_MS);
  await world.until(power, "polls that pass", () => passing().length >= POLLS, 10 * 60_000);
}

export const pollsCases: readonly Case[] = [{ name: "polls", begin, resume } satisfies Case<World>];
