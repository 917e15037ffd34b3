// node scripts/campaign.mjs fleet --devices 1000 --for 5m: many agents in one process against a platform, by default a local one.
// --outage cuts the network in the middle. Exits with 1 if a point was lost or no device came
// online.
import { randomBytes, randomFillSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { clock } from "../../../hosts/node/clock.js";
import { digest } from "../../../hosts/node/digest.js";
import { opener } from "../../../hosts/node/sockets.js";
import { decode, encode } from "../../../hosts/node/text.js";
import { none } from "../../../hosts/none.js";
import { NetworkSwitch } from "../../../hosts/simulator/network-switch.js";
import { Agent } from "../../../src/index.js";
import type { Host } from "../../../src/port.js";
import { duration, readCa } from "../../../tools/cli/usage.js";
import { startPlatform } from "../../../tools/platform/server.js";

/** Devices queue the points of this time, of an outage and of the back-off after it. */
const KEEP_MS = 30_000;
const LONGEST_WAIT_MS = 330_000;
/** Of a point of this sampler, in memory. */
const POINT_BYTES = 64;
const TEXT = { type: "string" } as const;

const { values: flags } = parseArgs({
  options: {
    devices: { ...TEXT, default: "100" },
    interval: { ...TEXT, default: "1s" },
    for: { ...TEXT, default: "1m" },
    outage: TEXT,
    connections: { ...TEXT, default: "3" },
    url: TEXT,
    ca: TEXT,
  },
});
const devices = Number(flags.devices);
const forMs = duration(flags.for);
const intervalMs = duration(flags.interval);
const outageMs = flags.outage === undefined ? 0 : duration(flags.outage);
const key = process.env.MOTE_PROVISION_KEY ?? "fleet-key";
const secret = process.env.MOTE_PROVISION_SECRET ?? "fleet-secret";
const local =
  flags.url === undefined ? await startPlatform({ port: 0, profile: { key, secret } }) : undefined;
const prefix = `fleet-${randomBytes(3).toString("hex")}-`;
const network = new NetworkSwitch(clock);
const open = network.watch(opener({ ca: readCa(flags.ca) }));
const keepMs = KEEP_MS + outageMs + Math.min(LONGEST_WAIT_MS, 4 * outageMs);
const bufferBytes = Math.max(1024, POINT_BYTES * Math.ceil(keepMs / intervalMs));
const sum = { devices, recorded: 0, delivered: 0, dropped: 0 };
const refusals = new Map<Agent, string>();
const rampMs = Math.min(devices * 10, forMs / 4);

function startDevice(name: string): Agent {
  const values = new Map<string, Uint8Array>();
  const host: Host = {
    ...{ clock, open, digest, encode, decode, blocks: none.blocks, slot: none.slot },
    ...{ hardwareId: name.slice(-32), log: () => {}, restart: () => {} },
    random: (into) => void randomFillSync(into),
    store: {
      get: (key) => values.get(key),
      set: (key, value) => values.set(key, value.slice()) !== undefined,
      delete: (key) => values.delete(key) || true,
    },
  };
  const agent = new Agent(host, {
    ...{ baseUrl: flags.url ?? local!.url, connections: Number(flags.connections) as 1 | 2 | 3 },
    provisioning: { key, secret, deviceName: name },
    telemetry: { batchBytes: 1024, batchPoints: 20, bufferBytes },
  });
  agent.on("delivered", ({ points }) => {
    sum.delivered += points;
  });
  agent.on("drop", ({ points }) => {
    sum.dropped += points;
  });
  agent.on("refused", ({ reason }) => void refusals.set(agent, reason));
  agent.on("online", () => void refusals.delete(agent));
  let count = 0;
  const sample = (): void => void (agent.telemetry.record({ count: count++ }) && sum.recorded++);
  setTimeout(() => {
    agent.start();
    setInterval(sample, intervalMs).unref();
  }, Math.random() * rampMs);
  return agent;
}

const rssBefore = process.memoryUsage.rss();
const agents = Array.from({ length: devices }, (_, number) => startDevice(`${prefix}${number}`));
await sleep((forMs - outageMs) / 2);
if (outageMs > 0) network.toggle();
await sleep(outageMs);
if (network.isOff) network.toggle();
await sleep((forMs - outageMs) / 2);
const online = agents.filter(({ state }) => state === "online").length;
const kibPerAgent = Math.round((process.memoryUsage.rss() - rssBefore) / 1024 / devices);
const pointsPerSecond = Math.round((1000 * sum.delivered) / forMs);
console.log(JSON.stringify({ ...sum, online, pointsPerSecond, kibPerAgent }));
for (const reason of new Set(refusals.values())) console.log(`refused: ${reason}`);
await Promise.all(agents.map((agent) => agent.stop()));
await local?.close();
if (!local) console.log(`the devices stay: mote devices delete --prefix ${prefix}`);
process.exit(online === 0 || sum.dropped > 0 || refusals.size > 0 ? 1 : 0);
