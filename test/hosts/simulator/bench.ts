// A device in the simulator and a platform of its own, over HTTP or over HTTPS with a private authority.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import type { AgentOptions, TelemetryOptions } from "../../../src/index.js";
import { findSimulator } from "../../../tools/moddable/sdk.js";
import { SimulatedDevice, simulatedImage } from "../../../tools/moddable/simulator/device.js";
import { Operator } from "../../../tools/operator/operator.js";
import type { Clock } from "../../../tools/platform/core/common/clock.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { TENANT } from "../../../tools/tour/hints.js";
import { screen } from "./rig.js";
import { secured } from "./secured.js";

export const DEVICE = "in-the-simulator";
export const INTERVAL_MS = 400;

/** The simulator itself is gone: no device comes back. */
const GONE = /^the simulator (?:ended|did not start)|^spawn /;
let dead: Error | undefined;

export interface Bench {
  readonly platform: Platform;
  readonly device: SimulatedDevice;
  readonly operator: Operator;
  /** `started`, `crash` and the agent's events. */
  readonly events: ({ event: string } & Record<string, unknown>)[];
  readonly lines: string[];
  /** With the device's files. */
  readonly stateDir: string;
  /** The most that was in use at a second's end, by the instrument's name. */
  readonly most: Map<string, number>;
}

export async function openBench(
  t: ExecutionContext,
  program: string,
  {
    secure = false as boolean | ((to: number) => Promise<{ url: string; ca: string }>),
    connections = 3 as 1 | 2 | 3,
    intervalMs = INTERVAL_MS,
    telemetry = {} as TelemetryOptions,
    agent = {} as Partial<AgentOptions>,
    clock = undefined as Clock | undefined,
  } = {},
): Promise<Bench> {
  dead = undefined;
  const platform = await startPlatform({ port: 0, ruleChain: true, ...(clock && { clock }) });
  const stateDir = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  const front = secure === true ? (to: number) => secured(t, to) : secure;
  const { url, ca } = front ? await front(platform.address.port) : { url: platform.url, ca: undefined };
  const events: Bench["events"] = [];
  const lines: string[] = [];
  const most = new Map<string, number>();
  const device = new SimulatedDevice(
    {
      ...{ sdk: findSimulator(), program, display: await screen(), stateDir, ca, intervalMs },
      agent: {
        baseUrl: url,
        provisioning: { ...platform.profile, deviceName: DEVICE },
        connections,
        telemetry,
        ...agent,
      },
      line: (line) => void lines.push(line),
      event: (event) => {
        events.push(event);
        if (GONE.test(String(event.reason)))
          dead = new Error(`${event.reason}\n${lines.slice(-15).join("\n")}`);
      },
      instruments: (values) => {
        for (const [name, value] of values) most.set(name, Math.max(value, most.get(name) ?? 0));
      },
    },
    simulatedImage("sample", "1.0.0", 5000),
  );
  t.teardown(async () => {
    await device.cut();
    await platform.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const operator = new Operator({ url: platform.url });
  await operator.login(TENANT.username, TENANT.password);
  return { platform, device, operator, events, lines, stateDir, most };
}

export async function until<T>(
  what: string,
  ms: number,
  probe: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (dead) throw dead;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The device's id, once it exists. */
export const idOf = (operator: Operator): Promise<string> =>
  until("the device", 30_000, async () => (await operator.devices.byName(DEVICE))?.id.id);

/** Uploads and assigns firmware 2.0.0 of so many bytes. */
export async function assign(operator: Operator, id: string, bytes: number): Promise<void> {
  const { deviceProfileId } = await operator.devices.get(id);
  const entry = { title: "sample", version: "2.0.0", deviceProfileId: deviceProfileId!.id };
  const made = await operator.ota.create(entry);
  await operator.ota.upload(made.id.id, simulatedImage("sample", "2.0.0", bytes), {
    fileName: "sample-2.0.0.bin",
  });
  await operator.ota.assign(id, made.id.id);
}

/** Resolves when the device says that it runs 2.0.0 and keeps it. */
export async function updated({ operator }: Bench, id: string, ms: number): Promise<void> {
  await until("firmware 2.0.0 confirmed", ms, async () => {
    const latest = await operator.timeSeries.latest(id, ["fw_state", "current_fw_version"]);
    return (
      (latest.current_fw_version?.value === "2.0.0" && latest.fw_state?.value === "UPDATED") || undefined
    );
  });
}
