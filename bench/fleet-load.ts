// The load of 1,000 agents with a point a minute, as the table of docs/guides/servers.md:
// `node scripts/campaign.mjs fleet-load`.
import { Agent } from "../src/index.js";
import { fakeHost } from "../test/fakes/host.js";
import { BASE_URL, Counted } from "./counted.js";

const DEVICES = 1_000;
const POINT = { temperature: 20.5 };
const POINT_MS = 60_000;
/** Agents start one after the other over this time. */
const RAMP_MS = 60_000;
const LATENCY_MS = 25;
/** Seconds: figures are of the steady state until the network is cut, and of the time after it is back. */
const [STEADY, CUT, BACK, END] = [240, 840, 960, 1_320];
const KINDS = ["requests", "handshakes", "bytes"] as const;
type Kind = (typeof KINDS)[number];
type Seen = Record<Kind, number[]>;

async function run(connections: 1 | 2 | 3): Promise<Seen> {
  const counted = new Counted(LATENCY_MS);
  const { clock, net } = counted;
  for (let number = 0; number < DEVICES; number++)
    clock.timer((number * RAMP_MS) / DEVICES, () => startAgent(counted, number, connections));
  const accept = net.onConnect;
  clock.timer(CUT * 1000, () => {
    for (const peer of net.peers) if (!peer.closed) peer.reset();
    net.onConnect = (peer) => {
      peer.reset("connection refused");
      return false;
    };
  });
  clock.timer(BACK * 1000, () => {
    net.onConnect = accept;
  });
  const seen: Seen = { requests: [], handshakes: [], bytes: [] };
  const before = { requests: 0, handshakes: 0, bytes: 0 };
  for (let second = 0; second < END; second++) {
    await clock.advance(second === 0 ? 999 : 1000);
    for (const kind of KINDS) {
      seen[kind].push(counted[kind] - before[kind]);
      before[kind] = counted[kind];
    }
    counted.forget();
  }
  return seen;
}

function startAgent({ clock, core, net }: Counted, number: number, connections: 1 | 2 | 3): void {
  const token = `A1B2C3D4E5F6G7H8${String(number).padStart(4, "0")}`;
  core.createDevice({ name: `device-${number}`, profileId: core.profiles.default.id }, token);
  const host = fakeHost({ clock, network: net, seed: number, hardwareId: `fake-${number}` });
  const firmware = { title: "greenhouse", version: "1.0.0" };
  const agent = new Agent(host, { baseUrl: BASE_URL, token, connections, firmware });
  const record = (): void => {
    agent.telemetry.record(POINT);
    clock.timer(POINT_MS, record);
  };
  agent.start();
  record();
}

const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
const busiest = (all: readonly number[]): number => Math.max(...all);
const ROWS: readonly [string, Kind, number][] = [
  ["requests", "requests", 1],
  ["connections opened", "handshakes", 1],
  ["kB, both ways", "bytes", 1_000],
];

const columns: Seen[] = [];
for (const connections of [1, 2, 3] as const) columns.push(await run(connections));
const lines = [
  "| a second, mean (busiest) | 1 connection | 2 connections | 3 connections |",
  "|---|---|---|---|",
];
for (const [phase, from, to] of [
  ["", STEADY, CUT],
  [", after the outage", BACK, END],
] as const)
  for (const [name, kind, unit] of ROWS) {
    const cells = columns.map((seen) => {
      const part = seen[kind].slice(from, to);
      return `${Math.round(mean(part) / unit)} (${Math.round(busiest(part) / unit)})`;
    });
    lines.push(`| ${name}${phase} | ${cells.join(" | ")} |`);
  }
process.stdout.write(`${lines.join("\n")}\n`);
