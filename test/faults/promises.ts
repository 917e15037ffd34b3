// What must hold at the end of a story, once the weather is good.
import { SECRET } from "../fakes/platform.js";
import { KEYS, type Story } from "./stories.js";
import { NAME } from "./world.js";

const HOUR = 3_600_000;
/** The slowest retry is one every ten minutes, and a back-off may have run before it. */
const CALM_MS = 40 * 60_000;
const MOST_LINES = 60;
/** Telemetry aside, of which there is one for each point at the most. */
const MOST_REQUESTS = 300;
const MOST_CALM_REQUESTS = 60;

export async function check(story: Story): Promise<void> {
  const { world } = story;
  await world.clock.advance(CALM_MS);
  if (!world.device) return story.fail("there is no device");
  checkPoints(story);
  checkAttributes(story, "after the calm");
  story.asked.check();
  const calmSince = world.clock.now();
  await checkAlive(story);
  checkTraffic(story, calmSince);
  checkLines(story);
  await checkEnd(story);
}

function checkPoints(story: Story): void {
  const { world } = story;
  const arrived = new Set<number>();
  let last = -1;
  for (const n of world.points) {
    if (arrived.has(n)) continue;
    if (n < last) story.fail(`point ${n} came after ${last}`);
    arrived.add(n);
    last = n;
  }
  const missing: number[] = [];
  for (let n = 0; n < story.recorded; n++) if (!arrived.has(n) && !story.excused.has(n)) missing.push(n);
  const told = Object.values(world.dropped).reduce((sum, points) => sum + points, 0);
  if (missing.length > told)
    story.fail(`${missing.length} points are missing, ${told} told as dropped: ${missing.slice(0, 5)}`);
}

function checkAttributes(story: Story, when: string): void {
  const { world } = story;
  const actual = world.platform.attributes(world.device!, "SHARED_SCOPE");
  for (const key of KEYS) {
    const [is, saw] = [JSON.stringify(actual[key]), JSON.stringify(story.seen.get(key))];
    if (is !== saw)
      story.fail(`${when}: ${key} is ${is?.slice(0, 40)}, the application saw ${saw?.slice(0, 40)}`);
  }
  if (story.published > 0) {
    const { count } = world.platform.attributes(world.device!);
    if (count !== story.published)
      story.fail(`${when}: client attribute is ${count}, published ${story.published}`);
  }
}

/** Everything works, within its time. */
async function checkAlive(story: Story): Promise<void> {
  const { world, asked, connections } = story;
  const device = world.device!;
  world.platform.setShared(device, { interval: "calm" });
  world.platform.deleteShared(device, ["limit"]);
  const sent = asked.send("echo", false);
  const before = story.recorded;
  story.record(5);
  await world.clock.advance(connections === 1 ? 40_000 : 8000);
  if (sent?.results[0]?.kind !== "answer" && connections > 1)
    story.fail("an RPC in good weather was not answered");
  await world.clock.advance(60_000);
  if (!story.seen.has("interval") || story.seen.get("interval") !== "calm")
    story.fail("a change was not seen in 68 s");
  checkAttributes(story, "alive");
  for (let n = before; n < story.recorded; n++)
    if (!world.points.includes(n)) story.fail(`point ${n} did not arrive in good weather`);
  if (story.agent?.state !== "online") story.fail(`the agent is ${story.agent?.state}`);
  if (asked.open > 0) story.fail(`${asked.open} calls of the application never ended`);
}

function checkTraffic(story: Story, calmSince: number): void {
  const { requests } = story.world;
  const worst = busiest(requests, 60_000);
  if (worst.count > MOST_REQUESTS)
    story.fail(`${worst.count} requests in the minute from ${worst.from / 1000} s`);
  const calm = busiest(
    requests.filter((at) => at > calmSince - 10 * 60_000),
    60_000,
  );
  if (calm.count > MOST_CALM_REQUESTS)
    story.fail(`${calm.count} requests in a calm minute from ${calm.from / 1000}`);
}

function busiest(times: readonly number[], within: number): { count: number; from: number } {
  let worst = { count: 0, from: 0 };
  for (let from = 0, to = 0; from < times.length; from++) {
    while (to < times.length && times[to]! < times[from]! + within) to++;
    if (to - from > worst.count) worst = { count: to - from, from: times[from]! };
  }
  return worst;
}

function checkLines(story: Story): void {
  const { world, lines } = story;
  const { count, from } = busiest(
    lines.map(({ at }) => at),
    HOUR,
  );
  if (count > MOST_LINES) story.fail(`${count} lines in the hour from ${from / 1000} s`);
  for (const { line } of lines)
    if (line.includes("loop failed") || line.includes("net:")) story.fail(`logged: ${line}`);
  const token = world.device!.credentials.credentialsId;
  const series =
    KEYS.length && JSON.stringify([world.points.length, world.platform.attributes(world.device!)]);
  for (const text of [...lines.map(({ line }) => line), ...story.events, series as string])
    if (text.includes(token) || text.includes(SECRET)) story.fail(`a secret is told: ${text.slice(0, 80)}`);
  if (world.platform.core.devices.list().length > 1) story.fail(`there is more than ${NAME}`);
}

async function checkEnd(story: Story): Promise<void> {
  const { world, life, agent } = story;
  const stopped = agent?.stop();
  // A drop may still wait to be told, a minute at the most.
  await world.clock.advance(70_000);
  await stopped;
  if (life && life.timers > 0) story.fail(`${life.timers} timers are left after stop()`);
  const requests = world.requests.length;
  await world.clock.advance(HOUR);
  if (world.requests.length > requests) story.fail("requests go out after stop()");
}
