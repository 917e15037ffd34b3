// A fleet as an operator meets it: long names, and an update in each of its states.
import type { Operator } from "../../../tools/operator/operator.js";
import { NodeClock } from "../../../tools/platform/node-clock.js";
import type { Platform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { ScriptedDevice } from "../scripted-device.js";
import { until } from "../until.js";

export const LONG_NAME = "greenhouse-north-wing-row-12-irrigation-controller-with-a-very-long-name-0007";
const SIZE = 50_000_000;
const TITLE = "greenhouse";
const CHECKSUM = "ab".repeat(32);

/** What a device reported, the newest last: seconds ago, and what. */
type Report = readonly [secondsAgo: number, values: Record<string, unknown>];
const state = (secondsAgo: number, fw_state: string, fw_error = ""): Report => [
  secondsAgo,
  {
    fw_state,
    fw_error,
    current_fw_title: TITLE,
    current_fw_version: fw_state === "UPDATED" ? "2.0.0" : "1.0.0",
    current_fw_checksum: fw_state === "UPDATED" ? CHECKSUM : "",
  },
];
const DOWNLOADING: Report[] = [
  state(100, "DOWNLOADING"),
  ...[5, 10, 15, 20, 25, 30, 35, 40, 45].map((percent, i): Report => [95 - i * 10, { fw_progress: percent }]),
];
const VERIFIED: Report[] = [...DOWNLOADING, state(14, "DOWNLOADED"), state(10, "VERIFIED")];
const TRIAL: Report[] = [...VERIFIED, state(8, "UPDATING")];

/** By the end of the device's name. */
export const UPDATES: Record<string, readonly Report[]> = {
  assigned: [],
  downloading: DOWNLOADING,
  verified: VERIFIED,
  trial: TRIAL,
  confirmed: [...TRIAL, state(2, "UPDATED")],
  "rolled-back": [...TRIAL, state(2, "FAILED", "not confirmed (task watchdog)")],
  failed: [...DOWNLOADING, state(2, "FAILED", "no such package")],
};

/** By the end of the device's name: the stage of a rollout that it is in. */
const ROLLED_OUT: Record<string, number> = { confirmed: 1, trial: 2, "rolled-back": 2, downloading: 2 };
const PLAN = [1, 4, 300];

/** The machine's clock, set back while a past is made. */
export class MovedClock extends NodeClock {
  offsetMs = 0;

  override now(): number {
    return super.now() + this.offsetMs;
  }
}
/** So long ago the package was assigned. */
const ASSIGNED_MS = 150_000;

export interface Fleet {
  operator: Operator;
  /** By name. */
  devices: Map<string, ScriptedDevice>;
}

/** `size` devices, of which each of UPDATES is one. */
export async function makeFleet(platform: Platform, clock: MovedClock, size: number): Promise<Fleet> {
  const operator = await operatorOf(platform);
  const devices = new Map<string, ScriptedDevice>();
  const create = (name: string): string => {
    const device = new ScriptedDevice(platform, name);
    devices.set(name, device);
    return device.id;
  };
  create(LONG_NAME);
  for (let n = size - 1 - Object.keys(UPDATES).length; n > 0; n--)
    create(`sensor-${String(n).padStart(3, "0")}`);
  const deviceProfileId = platform.core.profiles.default.id;
  const pack = await operator.ota.create({
    ...{ title: TITLE, version: "2.0.0", deviceProfileId },
    externalFile: {
      url: "https://files.example/2.0.0",
      dataSize: SIZE,
      checksumAlgorithm: "SHA256",
      checksum: CHECKSUM,
    },
  });
  clock.offsetMs = -ASSIGNED_MS;
  for (const name of Object.keys(UPDATES)) await operator.ota.assign(create(`update-${name}`), pack.id.id);
  // The platform notifies one device after another.
  const last = [...devices.values()].at(-1)?.id ?? "";
  await until(async () => (await operator.attributes.get(last, "SHARED_SCOPE", ["fw_version"])).fw_version);
  clock.offsetMs = 0;
  const now = Date.now();
  for (const [name, reports] of Object.entries(UPDATES))
    for (const [secondsAgo, values] of reports)
      await devices.get(`update-${name}`)?.send("telemetry", { ts: now - secondsAgo * 1000, values });
  for (const [name, stage] of Object.entries(ROLLED_OUT)) {
    const note = { package: pack.id.id, title: TITLE, version: "2.0.0", stage, plan: PLAN, at: now };
    const moteRollout = name === "confirmed" ? { ...note, passed: true } : note;
    await operator.attributes.set(devices.get(`update-${name}`)?.id ?? "", "SERVER_SCOPE", { moteRollout });
  }
  return { operator, devices };
}
