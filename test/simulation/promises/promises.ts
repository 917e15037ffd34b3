// What must hold at the end of a run, once there are no more faults.
import { KEY, SECRET } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";
import type { SimulatedRun } from "../simulated-run.js";
import { NAME } from "../world.js";
import { secretsIn, withoutLawful } from "./secrets.js";

const HOUR = 3_600_000;
/**
 * The bound within which all comes right: the slowest retry is one every ten minutes, and a
 * back-off may have run before it.
 */
const CALM_MS = 40 * 60_000;
const LOOK_MS = 5000;
/** What the faults left on its way: the slowest answers, polls on connections that are dead. */
const AFTERMATH_MS = 90_000;
/** Where points share no batch, each takes its turn among all else. */
const POINT_MS = 10_000;
/** One run in so many goes on to the end of that time. */
const PATIENT = 16;
const MOST_LINES = 60;
/** Telemetry aside, of which there is one for each point at the most. */
const MOST_REQUESTS = 300;
const MOST_CALM_REQUESTS = 60;
/** The longest poll, and one that began late. */
const LONGEST_POLL_MS = 360_000;
/** A change follows the end of a poll within this time. */
const MOST_AFTER_MS = 2000;
const SEEN_WITHIN_MS = 10_000;

export async function check(run: SimulatedRun): Promise<void> {
  const { world, points, rpcCalls } = run;
  const since = world.clock.now();
  const end = since + CALM_MS + points.missing.length * POINT_MS;
  const patient = world.seed % PATIENT === 0;
  while (world.clock.now() < end && (patient || !isRight(run, since))) await world.clock.advance(LOOK_MS);
  await world.clock.advance(AFTERMATH_MS);
  if (!world.device) return run.fail("there is no device");
  checkAttributes(run, "after the calm");
  const calmSince = world.clock.now();
  await checkWorking(run);
  await checkBetweenPolls(run);
  points.check();
  rpcCalls.check();
  checkTraffic(run, calmSince);
  checkLines(run);
  checkSecrets(run);
  await checkEnd(run);
}

function isRight({ world, points, shared, rpcCalls, count, agent }: SimulatedRun, since: number): boolean {
  return (
    world.device !== undefined &&
    world.polls > since &&
    agent?.state === "online" &&
    // All arrived is not enough: a device that did not hear so waits for its next attempt, and new
    // points wait with the old.
    agent.telemetry.waiting === 0 &&
    shared.wrong.length === 0 &&
    rpcCalls.waiting.length === 0 &&
    points.missing.length <= points.reported &&
    (count === undefined || world.platform.attributes(world.device).count === count)
  );
}

function checkAttributes(run: SimulatedRun, when: string): void {
  const { world, shared, count } = run;
  for (const key of shared.wrong) run.fail(`${when}: the application sees ${key} otherwise than it is`);
  const there = world.platform.attributes(world.device!).count;
  if (count !== undefined && there !== count)
    run.fail(`${when}: client attribute is ${there}, published ${count}`);
}

/** Everything works, within its time. */
async function checkWorking(run: SimulatedRun): Promise<void> {
  const { world, rpcCalls, connections, points, shared } = run;
  shared.set("interval", "calm");
  shared.set("limit", undefined);
  const sent = rpcCalls.send("echo", false, 60_000);
  const before = points.recorded;
  points.record(5);
  const soon = world.apart ? 25_000 : 8000;
  await world.clock.advance(connections === 1 ? 40_000 : soon);
  if (sent?.results[0]?.kind !== "answer" && connections > 1)
    run.fail("an RPC without faults was not answered");
  await world.clock.advance(world.apart ? 180_000 : 60_000);
  checkAttributes(run, "68 s after a change");
  for (let n = before; n < points.recorded; n++)
    if (!world.points.includes(n)) run.fail(`point ${n} did not arrive without faults`);
  if (run.agent?.state !== "online") run.fail(`the agent is ${run.agent?.state}`);
  if (rpcCalls.open > 0) run.fail(`${rpcCalls.open} calls of the application never ended`);
}

/** A change around the end of a poll is seen as soon as any other. */
async function checkBetweenPolls(run: SimulatedRun): Promise<void> {
  const { world, shared, connections } = run;
  if (connections < 3) return;
  const { platform, clock } = world;
  const { onAnswer } = platform;
  let ended = false;
  platform.onAnswer = (request, status, body) => {
    onAnswer?.(request, status, body);
    if (ended || status !== 408 || !request.path.includes("/updates?")) return;
    ended = true;
    clock.timer(world.dice.below(MOST_AFTER_MS), () => shared.set("mode", "between polls"));
  };
  for (let ms = 0; !ended && ms < LONGEST_POLL_MS; ms += LOOK_MS) await clock.advance(LOOK_MS);
  platform.onAnswer = onAnswer;
  if (!ended) return run.fail("no poll for attributes ended");
  await clock.advance(MOST_AFTER_MS + SEEN_WITHIN_MS);
  checkAttributes(run, "10 s after a change between two polls");
}

function checkTraffic(run: SimulatedRun, calmSince: number): void {
  const { requests } = run.world;
  const worst = busiest(requests, 60_000);
  if (worst.count > MOST_REQUESTS)
    run.fail(`${worst.count} requests in the minute from ${worst.from / 1000} s`);
  const calm = busiest(
    requests.filter((at) => at >= calmSince),
    60_000,
  );
  if (calm.count > MOST_CALM_REQUESTS)
    run.fail(`${calm.count} requests in a calm minute from ${calm.from / 1000}`);
}

function busiest(times: readonly number[], within: number): { count: number; from: number } {
  let worst = { count: 0, from: 0 };
  for (let from = 0, to = 0; from < times.length; from++) {
    while (to < times.length && times[to]! < times[from]! + within) to++;
    if (to - from > worst.count) worst = { count: to - from, from: times[from]! };
  }
  return worst;
}

function checkLines(run: SimulatedRun): void {
  const { lines } = run;
  const { count, from } = busiest(
    lines.map(({ at }) => at),
    HOUR,
  );
  // Each start says once what is wrong.
  if (count > MOST_LINES + run.world.powerCycles)
    run.fail(`${count} lines in the hour from ${from / 1000} s`);
  for (const { line } of lines)
    if (line.includes("loop failed") || line.includes("net:")) run.fail(`logged: ${line}`);
}

/**
 * The token is in addresses, key and secret in the body of a provisioning: nowhere else, in no
 * form.
 */
function checkSecrets(run: SimulatedRun): void {
  const { world, lines, texts } = run;
  const { platform } = world;
  const requests = new Set(platform.seen.map(textOf));
  const shown = [...lines.map(({ line }) => line), ...texts, ...[...requests].map(withoutLawful)];
  const tokens = new Set([...requests].map((request) => TOKEN.exec(request)?.[1]));
  const secrets: Record<string, string> = { key: KEY, secret: SECRET };
  for (const token of tokens) if (token !== undefined) secrets[`token ${token}`] = token;
  for (const name of secretsIn(shown.join("\n"), secrets)) {
    const text = shown.find((one) => secretsIn(one, { [name]: secrets[name]! }).length > 0);
    run.fail(`a secret is shown, ${name}: ${text?.slice(0, 80)}`);
  }
  if (platform.core.devices.list().length > 1) run.fail(`there is more than ${NAME}`);
}

const TOKEN = /^[A-Z]+ \/api\/v1\/([^/ ]+)\//;

const textOf = ({ method, path, headers, body }: SeenRequest): string =>
  `${method} ${path} HTTP/1.1\r\n${JSON.stringify(headers)}\r\n\r\n${body}`;

async function checkEnd(run: SimulatedRun): Promise<void> {
  const { world, powerCycle, agent } = run;
  const stopped = agent?.stop();
  // A drop may still wait to be reported, a minute at the most.
  await world.clock.advance(70_000);
  await stopped;
  if (powerCycle && powerCycle.host.timers.size > 0)
    run.fail(`${powerCycle.host.timers.size} timers are left after stop()`);
  const requests = world.requests.length;
  await world.clock.advance(HOUR);
  if (world.requests.length > requests) run.fail("requests go out after stop()");
}
