// node scripts/campaign.mjs fleet --devices 1000 --for 5m: many agents in one process against a platform, by default a local one.
// --outage cuts the network in the middle. Exits with 1 if a point was lost or no device came online.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { opener } from "../../../hosts/node/sockets.js";
import { duration, readCa } from "../../../tools/cli/usage.js";
import { Operator } from "../../../tools/operator/operator.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { Fleet } from "./fleet.js";

/** Devices queue the points of this time, of an outage and of the back-off after it. */
const KEEP_MS = 30_000;
const LONGEST_WAIT_MS = 330_000;
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
const env = process.env;
const devices = Number(flags.devices);
const forMs = duration(flags.for);
const outageMs = flags.outage === undefined ? 0 : duration(flags.outage);
const key = env.MOTE_PROVISION_KEY ?? "fleet-key";
const secret = env.MOTE_PROVISION_SECRET ?? "fleet-secret";
const local =
  flags.url === undefined ? await startPlatform({ port: 0, profile: { key, secret } }) : undefined;
const url = flags.url ?? local!.url;
const prefix = `fleet-${randomBytes(3).toString("hex")}-`;
const fleet = new Fleet({
  ...{ devices, prefix, baseUrl: url, provisioning: { key, secret } },
  connections: Number(flags.connections) as 1 | 2 | 3,
  intervalMs: duration(flags.interval),
  keepMs: KEEP_MS + outageMs + Math.min(LONGEST_WAIT_MS, 4 * outageMs),
  rampMs: Math.min(devices * 10, forMs / 4),
  open: opener({ ca: readCa(flags.ca) }),
  log: () => {},
});
const rssBefore = process.memoryUsage.rss();
fleet.start();
await sleep((forMs - outageMs) / 2);
if (outageMs > 0) fleet.network.cut();
await sleep(outageMs);
fleet.network.restore();
await sleep((forMs - outageMs) / 2);
const summary = fleet.count();
const { online, dropped, delivered } = summary;
const kibPerAgent = Math.round((process.memoryUsage.rss() - rssBefore) / 1024 / devices);
console.log(
  JSON.stringify({ ...summary, pointsPerSecond: Math.round((1000 * delivered) / forMs), kibPerAgent }),
);
if (fleet.refusal !== undefined) console.log(`refused ${fleet.refused} devices: ${fleet.refusal}`);
await fleet.stop();
if (local) await local.close();
else await removeDevices();
process.exit(online === 0 || dropped > 0 || fleet.refused > 0 ? 1 : 0);

async function removeDevices(): Promise<void> {
  const { MOTE_PLATFORM_USERNAME: username, MOTE_PLATFORM_PASSWORD: password } = env;
  if (!username || !password) {
    console.log(`the devices stay: mote devices delete --prefix ${prefix}`);
    return;
  }
  const operator = new Operator({ url });
  await operator.login(username, password);
  for (const { name } of fleet.members) {
    const device = await operator.devices.byName(name);
    if (device) await operator.devices.delete(device.id.id);
  }
}
