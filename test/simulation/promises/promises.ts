// What must hold at the end of a story, once the weather is good.
import { SECRET } from "../../fakes/platform.js";
import { NAME } from "../world.js";
import type { Asked } from "./asked.js";
import type { Points } from "./points.js";
import type { Run } from "./run.js";
import type { Shared } from "./shared-attributes.js";

const HOUR = 3_600_000;
/** The bound within which all comes right: the slowest retry is one every ten minutes, and a back-off may have run before it. */
const CALM_MS = 40 * 60_000;
const LOOK_MS = 5000;
/** What the bad weather left on its way: the slowest answers, polls on connections that are dead. */
const AFTERMATH_MS = 90_000;
/** For so long a key is left out whose value was too large, or seemed to be. */
const SKIP_MS = 10 * 60_000;
/** Where points share no batch, each takes its turn among all else. */
const POINT_MS = 10_000;
/** Every so manyth story goes on to the end of that time. */
const PATIENT = 16;
const MOST_LINES = 60;
/** Telemetry aside, of which there is one for each point at the most. */
const MOST_REQUESTS = 300;
const MOST_CALM_REQUESTS = 60;

/** With what was recorded, asked and set, and what became of each. */
interface JudgedRun extends Run {
  readonly points: Points;
  readonly asked: Asked;
  readonly shared: Shared;
}

export async function check(story: JudgedRun): Promise<void> {
  const { world, points, asked } = story;
  const since = world.clock.now();
  const end = since + CALM_MS + points.missing.length * POINT_MS;
  const patient = world.seed % PATIENT === 0;
  while (world.clock.now() < end && (patient || !isRight(story, since))) await world.clock.advance(LOOK_MS);
  await world.clock.advance(AFTERMATH_MS);
  if (!world.device) return story.fail("there is no device");
  checkAttributes(story, "after the calm");
  const calmSince = world.clock.now();
  await checkAlive(story);
  points.check();
  asked.check();
  checkTraffic(story, calmSince);
  checkLines(story);
  checkSecrets(story);
  await checkEnd(story);
}

function isRight({ world, points, shared, asked, count, agent, lines }: JudgedRun, since: number): boolean {
  const skipped = lines.findLast(({ line }) => line.includes("is left out"));
  return (
    world.device !== undefined &&
    world.polls > since &&
    !(skipped && world.clock.now() < skipped.at + SKIP_MS) &&
    agent?.state === "online" &&
    // All arrived is not enough: a device that did not hear so waits for its next attempt, and new points wait with the old.
    agent.telemetry.waiting === 0 &&
    shared.wrong.length === 0 &&
    asked.waiting.length === 0 &&
    points.missing.length <= points.told &&
    (count === undefined || world.platform.attributes(world.device).count === count)
  );
}

function checkAttributes(story: JudgedRun, when: string): void {
  const { world, shared, count } = story;
  for (const key of shared.wrong) story.fail(`${when}: the application sees ${key} otherwise than it is`);
  const there = world.platform.attributes(world.device!).count;
  if (count !== undefined && there !== count)
    story.fail(`${when}: client attribute is ${there}, published ${count}`);
}

/** Everything works, within its time. */
async function checkAlive(story: JudgedRun): Promise<void> {
  const { world, asked, connections, points, shared } = story;
  shared.set("interval", "calm");
  shared.set("limit", undefined);
  const sent = asked.send("echo", false, 60_000);
  const before = points.recorded;
  points.record(5);
  const soon = world.apart ? 25_000 : 8000;
  await world.clock.advance(connections === 1 ? 40_000 : soon);
  if (sent?.results[0]?.kind !== "answer" && connections > 1)
    story.fail("an RPC in good weather was not answered");
  await world.clock.advance(world.apart ? 180_000 : 60_000);
  checkAttributes(story, "68 s after a change");
  for (let n = before; n < points.recorded; n++)
    if (!world.points.includes(n)) story.fail(`point ${n} did not arrive in good weather`);
  if (story.agent?.state !== "online") story.fail(`the agent is ${story.agent?.state}`);
  if (asked.open > 0) story.fail(`${asked.open} calls of the application never ended`);
}

function checkTraffic(story: JudgedRun, calmSince: number): void {
  const { requests } = story.world;
  const worst = busiest(requests, 60_000);
  if (worst.count > MOST_REQUESTS)
    story.fail(`${worst.count} requests in the minute from ${worst.from / 1000} s`);
  const calm = busiest(
    requests.filter((at) => at >= calmSince),
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

function checkLines(story: JudgedRun): void {
  const { lines } = story;
  const { count, from } = busiest(
    lines.map(({ at }) => at),
    HOUR,
  );
  // Each start says once what is wrong.
  if (count > MOST_LINES + story.world.lives) story.fail(`${count} lines in the hour from ${from / 1000} s`);
  for (const { line } of lines)
    if (line.includes("loop failed") || line.includes("net:")) story.fail(`logged: ${line}`);
}

/** The token is in addresses, the secret in the body of a provisioning: nowhere else. */
function checkSecrets(story: JudgedRun): void {
  const { world, lines, texts } = story;
  const token = world.device!.credentials.credentialsId;
  const bodies = world.platform.seen
    .filter(({ path }) => !path.endsWith("/provision"))
    .map(({ body }) => body);
  const all = [...lines.map(({ line }) => line), ...texts, ...bodies];
  for (const text of all)
    if (text.includes(token) || text.includes(SECRET)) story.fail(`a secret is told: ${text.slice(0, 80)}`);
  if (world.platform.core.devices.list().length > 1) story.fail(`there is more than ${NAME}`);
}

async function checkEnd(story: JudgedRun): Promise<void> {
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
