// Server-side RPCs, with the power going anywhere between their arrival and the last that is
// remembered of them.

import type { Agent } from "../../../src/index.js";
import { RpcActor, type RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import type { Power } from "../../fakes/power.js";
import type { PoweredHost } from "../../fakes/powered-device.js";
import { type Case, multiply } from "../runner.js";
import { WAYS, type Way, World } from "../world.js";

interface Shape {
  readonly way: Way;
  readonly connections: 1 | 2 | 3;
  /** The platform restarts between two RPCs: its ids begin at 0 again. */
  readonly restarts: boolean;
}

/** What the operator sends, one after the other. Each waits for its answer. */
const CALLS = ["act", "read", "slow", "long", "act"] as const;
const SLOW_MS = 700;
const RESTART_BEFORE = 1;
/** Longer than what is kept of an answer. */
const LONG = "x".repeat(600);
const HOUR_MS = 3_600_000;
/** The answer of the call that may run twice. */
const READ = /^{"n":1}$/;
const ANSWER = /\/rpc\/\d+$/;
const JOURNAL = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `rpc${n}`);

interface CallWorld extends World {
  readonly shape: Shape;
  readonly results: RpcResult[][];
  /** How often the handler of each RPC ran. */
  readonly runs: number[];
  /** The answer that a start left in the store. */
  readonly kept: (string | undefined)[];
  starts: number;
}

function begin(shape: Shape): CallWorld {
  const world = new World(shape.way, ({ path }) => ANSWER.test(path));
  return Object.assign(world, { shape, results: [], runs: [], kept: [], starts: 0 });
}

function handle(world: CallWorld, agent: Agent, { clock }: PoweredHost): void {
  const run = ({ n }: { n: number }) => {
    world.runs[n] = (world.runs[n] ?? 0) + 1;
    return { n };
  };
  agent.rpc.handle("act", run);
  agent.rpc.handle("read", run, { once: false });
  agent.rpc.handle<{ n: number }>("slow", (params) => {
    const answer = run(params);
    return new Promise((resolve) => clock.timer(SLOW_MS, () => resolve(answer)));
  });
  agent.rpc.handle<{ n: number }>("long", (params) => ({ ...run(params), LONG }));
}

async function resume(world: CallWorld, power: Power): Promise<void> {
  const { connections, restarts } = world.shape;
  world.starts++;
  for (const key of JOURNAL) {
    const { answer } = world.stored(key) ?? {};
    const n = typeof answer === "string" ? (JSON.parse(answer) as { n?: number }).n : undefined;
    if (n !== undefined) world.kept[n] = answer as string;
  }
  const { agent, host } = world.boot(power, { connections });
  handle(world, agent, host);
  agent.start();
  await world.until(power, "online", () => agent.state === "online");
  for (;;) {
    const last = world.results.length - 1;
    // A caller may have given up: an answer is not for ever.
    await world.until(power, `answer ${last}`, () => last < 0 || world.results[last]!.length > 0, 2 * 60_000);
    if (last === CALLS.length - 1) break;
    if (restarts && last === RESTART_BEFORE)
      Object.assign(world.device, { rpc: new RpcActor(world.platform.core.clock) });
    const method = CALLS[last + 1]!;
    world.results.push(world.platform.rpc(world.device, method, { n: last + 1 }, { timeoutMs: HOUR_MS }));
  }
  // Each answer whose acknowledgement was lost, or came to a device without power, it remembers
  // until its time is over; a call that may run twice it never stores.
  const unheard = world.starts - 1 + world.unheard.filter((body) => !READ.test(body)).length;
  const left = () => JOURNAL.filter((key) => world.stored(key) !== undefined).length;
  await world.until(power, "forgotten", () => left() <= unheard, 3 * 60_000);
}

function check({ results, runs, kept, starts, platform }: CallWorld): void {
  for (const [n, method] of CALLS.entries()) {
    const often = runs[n] ?? 0;
    const once = method !== "read";
    if (once && often > 1) throw new Error(`the handler of RPC ${n} ran ${often} times`);
    const [result, more] = results[n] ?? [];
    if (result?.kind !== "answer" || more)
      throw new Error(`the caller of RPC ${n} got ${JSON.stringify(results[n])}`);
    const right = JSON.stringify(method === "long" ? { n, LONG } : { n });
    const posted = platform.seen.filter(({ body }) => body === right).length;
    const isUnknown = result.text.includes("OUTCOME_UNKNOWN");
    if (isUnknown && (starts === 1 || !once))
      throw new Error(`the outcome of RPC ${n} is said not to be known`);
    if (!isUnknown && result.text !== right)
      throw new Error(`RPC ${n} was answered ${result.text.slice(0, 80)}`);
    if (!isUnknown && often < 1) throw new Error(`RPC ${n} was answered and did not run`);
    // An answer that did not come through is kept before it goes out again.
    const mustKnow = kept[n] === undefined ? posted > 1 && method !== "long" : kept[n] !== result.text;
    if (isUnknown && mustKnow) throw new Error(`the answer of RPC ${n} was to be kept and is not known`);
  }
}

const lists = { way: WAYS, connections: [1, 2, 3] as const, restarts: [false, true] };

const made = (shape: Shape): Case<CallWorld> => ({
  name: `rpc/${shape.way}-${shape.connections}${shape.restarts ? "-restart" : ""}`,
  begin: () => begin(shape),
  resume,
  check,
});

export const rpcCases: readonly Case[] = multiply(lists, (shape) => made({ ...shape }));
