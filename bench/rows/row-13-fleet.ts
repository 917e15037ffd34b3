// A fleet in one process, as the fleet campaign runs it: a point a second from each agent, two
// connections each, over real sockets to a local platform in another process. Memory is what is in
// use after a collection, heap and buffers, of 1,000 agents minus that of 100, by agent. CPU is the
// process's, user and system. The curve shows it as the share of what an agent costs among 100.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { opener } from "../../hosts/node/sockets.js";
import { Fleet } from "../../test/tools/fleet/fleet.js";
import { type Part, startPart } from "../parts/parts.js";
import { type Line, median, type Row } from "../row.js";

const SIZES = [100, 250, 500, 1000] as const;
const FEW = SIZES[0];
const MANY = SIZES[3];
const AGENT_RAMP_MS = 4;
const SETTLE_MS = 2500;
const MEASURED_MS = 4000;
const LOOK_MS = 500;
const LOOKS = 240;

interface Sizes {
  /** µs an agent and second, by size. */
  readonly cpu: number[];
  /** Bytes an agent. */
  readonly live: number;
}

interface Platform {
  readonly port: number;
  readonly profile: { readonly key: string; readonly secret: string };
}

/** Looked at so often, and the least taken: a request that happens to be under way is not what an agent keeps. */
async function memory(): Promise<number> {
  const looks: number[] = [];
  for (let look = 0; look < 8; look++) {
    globalThis.gc?.();
    await sleep(50);
    const { heapUsed, external } = process.memoryUsage();
    looks.push(heapUsed + external);
  }
  return Math.min(...looks);
}

function makeFleet(part: Part, round: number, devices: number): Fleet {
  const { port, profile } = part.said as Platform;
  return new Fleet({
    devices,
    prefix: `bench-${round}-${devices}-`,
    baseUrl: `http://127.0.0.1:${port}`,
    provisioning: { key: profile.key, secret: profile.secret },
    connections: 2,
    intervalMs: 1000,
    keepMs: 30_000,
    rampMs: devices * AGENT_RAMP_MS,
    open: opener(),
    log: () => {},
  });
}

/** The fleet grows from size to size, and is looked at at each. */
async function grow(part: Part, round: number): Promise<Sizes> {
  const fleets: Fleet[] = [];
  const cpu: number[] = [];
  const looks: number[] = [];
  let agents = 0;
  for (const size of SIZES) {
    const fleet = makeFleet(part, round, size - agents);
    agents = size;
    fleets.push(fleet);
    fleet.start();
    await allOnline(fleets, size);
    await sleep(SETTLE_MS);
    cpu.push(await cpuOf(size));
    looks.push(await memory());
  }
  await Promise.all(fleets.map((fleet) => fleet.stop()));
  return { cpu, live: (looks.at(-1)! - looks[0]!) / (MANY - FEW) };
}

/** However slow the machine is. */
async function allOnline(fleets: readonly Fleet[], size: number): Promise<void> {
  const online = (): number => fleets.reduce((sum, fleet) => sum + fleet.count().online, 0);
  for (let look = 0; online() < size; look++) {
    if (look > LOOKS) throw new Error(`${online()} of ${size} agents are online`);
    await sleep(LOOK_MS);
  }
}

async function cpuOf(agents: number): Promise<number> {
  const before = process.cpuUsage();
  const began = performance.now();
  await sleep(MEASURED_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / agents / ((performance.now() - began) / 1000);
}

async function onNode(times: number): Promise<Line[]> {
  // The young generation would grow to 48 MiB in a busy process.
  setFlagsFromString("--semi-space-growth-factor=1");
  const part = await startPart("part-platform.js");
  const rounds: Sizes[] = [];
  try {
    // Unmeasured: the engine has compiled what there is to compile then.
    await grow(part, 0);
    for (let round = 1; round <= times; round++) rounds.push(await grow(part, round));
  } finally {
    await part.end();
  }
  const cpuAt = (index: number): number => median(rounds.map(({ cpu }) => cpu[index]!));
  return [
    { what: "memory of an agent on Node", unit: "KiB", mote: rounds.map(({ live }) => live / 1024) },
    {
      what: "CPU on Node",
      unit: "µs an agent and second, among 1,000 over among 100",
      mote: rounds.map(({ cpu }) => cpu.at(-1)!),
      ratio: rounds.map(({ cpu }) => cpu.at(-1)! / cpu[0]!),
      target: 1.3,
      series: SIZES.map((size, index) => [size, cpuAt(index) / cpuAt(0)] as const),
    },
  ];
}

export const row: Row = {
  id: 13,
  name: "a fleet of 1,000 agents, a point a second each",
  target: 32,
  quick: false,
  curve: {
    x: "agents in one process",
    y: "cost of one, times that among 100",
    bounds: [{ name: "CPU: 30 % more", y: 1.3 }],
  },
  run: ({ times }) => onNode(times),
};
