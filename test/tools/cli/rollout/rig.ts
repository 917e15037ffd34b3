// A local platform and its operator on a clock that stands still until a rollout waits, with devices that are played: each does after an assignment what its
// fate says.
import type { ExecutionContext } from "ava";
import { lookAt } from "../../../../tools/cli/rollout/device-state.js";
import type { Target } from "../../../../tools/cli/rollout/members.js";
import type { Outcome, RolloutOptions } from "../../../../tools/cli/rollout/outcome.js";
import { Rollout } from "../../../../tools/cli/rollout/rollout.js";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { toUndo, type Undone, undo } from "../../../../tools/cli/rollout/undo.js";
import type { Operator } from "../../../../tools/operator/operator.js";
import type { DeviceProfile } from "../../../../tools/operator/shapes.js";
import type { Device } from "../../../../tools/platform/core/devices.js";
import type { Platform } from "../../../../tools/platform/server.js";
import { FakeClock } from "../../../fakes/clock.js";
import { operatorOf } from "../../operator-of.js";
import { platformFor } from "../../platform-for.js";

export const MINUTE = 60_000;
const TICK_MS = 5_000;
/** Looks are further apart than in life, so that hours pass quickly. */
const LOOK_MS = 20_000;
/** From the assignment to the end of an update. */
const UPDATE_MS = 30_000;

export type Fate =
  /** It runs the image, and goes on. */
  | "good"
  | "fails"
  /** It is switched off. */
  | "off"
  /** It runs the image, and is not heard of again. */
  | "falls silent"
  | "recovers"
  /** It is heard of every 20 minutes. */
  | "sleeps"
  /** It runs the image, and a minute later the one before again, without a word. */
  | "goes back"
  /** It fails, and has it running with its second try. */
  | "second try";

/** One of the fleet. */
export class ScriptedDevice {
  readonly device: Device;
  fate: Fate;
  version = "1.0.0";
  /** Versions whose update it began, in order. */
  readonly began: string[] = [];
  #since = 0;
  #backAt = Number.POSITIVE_INFINITY;
  #wanted = "";
  readonly #platform: Platform;

  constructor(platform: Platform, device: Device, fate: Fate) {
    this.#platform = platform;
    this.device = device;
    this.fate = fate;
    this.#reports({ current_fw_title: "pump", current_fw_version: "1.0.0" });
  }

  tick(now: number): void {
    const isSilent = this.fate === "off" || (this.fate === "falls silent" && this.version !== "1.0.0");
    if (isSilent || (this.fate === "sleeps" && now % (20 * MINUTE) !== 0)) return;
    this.device.lastActivityTime = now;
    const wanted = String(this.device.attributes.get("SHARED_SCOPE", "fw_version")?.value ?? "");
    if (wanted !== this.#wanted) {
      [this.#wanted, this.#since] = [wanted, now];
      if (wanted !== "" && wanted !== this.version) this.#begins(wanted);
    }
    if (now >= this.#backAt) this.#goesBack();
    if (wanted !== "" && wanted !== this.version) this.#updates(wanted, now);
  }

  #updates(wanted: string, now: number): void {
    const passed = now - this.#since;
    if (passed < UPDATE_MS) return;
    if (this.fate === "fails" || (this.fate === "second try" && passed < 3 * UPDATE_MS)) {
      this.#fails();
      return;
    }
    this.#runs(wanted);
    if (this.fate === "goes back") this.#backAt = now + MINUTE;
  }

  #begins(version: string): void {
    this.began.push(version);
    this.#reports({ fw_state: "DOWNLOADING", fw_error: "" });
  }

  #goesBack(): void {
    this.#backAt = Number.POSITIVE_INFINITY;
    this.#reports({ current_fw_version: "1.0.0" });
  }

  #fails(): void {
    if (this.#state === "FAILED") return;
    this.#reports({ fw_state: "FAILED", fw_error: "the new image failed its self-test" });
  }

  #runs(version: string): void {
    this.version = version;
    this.#reports({
      fw_state: "UPDATED",
      fw_error: "",
      current_fw_title: "pump",
      current_fw_version: version,
    });
    if (this.fate === "recovers")
      this.#platform.core.receiveAttributes(this.device, [["moteRecovery", "it divided by zero"]]);
  }

  get #state(): unknown {
    return this.device.series.latest("fw_state")?.value;
  }

  #reports(values: Record<string, string>): void {
    const { core } = this.#platform;
    core.receiveTelemetry(this.device, core.clock.now(), Object.entries(values));
  }
}

export interface Rig {
  readonly clock: FakeClock;
  readonly platform: Platform;
  readonly operator: Operator;
  readonly profile: DeviceProfile;
  readonly fleet: ScriptedDevice[];
  /** What the rollouts said. */
  readonly said: string[];
  add(name: string, fate?: Fate): ScriptedDevice;
  named(name: string): ScriptedDevice;
  /** A package on the platform. */
  release(version: string): Promise<Target>;
  /** `during`: called at each wait. */
  rollout(target: Target, options?: Partial<RolloutOptions>, during?: () => unknown): Promise<Rollout>;
  run(target: Target, options?: Partial<RolloutOptions>, during?: () => unknown): Promise<Outcome>;
  undo(target: Target): Promise<Undone>;
  /** The package that each has assigned, by name: "profile" where it is its profile's. */
  assigned(): Promise<Record<string, string>>;
}

export async function startRig(t: ExecutionContext, devices = 0): Promise<Rig> {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const now = (): number => clock.wall() as number;
  const platform = await platformFor(t, { clock: { now, timer: (ms, due) => clock.timer(ms, due) } });
  const operator = await operatorOf(platform);
  const profile = await operator.profiles.save({ name: "pumps" });
  const fleet: ScriptedDevice[] = [];
  const packages = new Map<string, string>();
  const said: string[] = [];
  const tick = (): void => {
    for (const one of fleet) one.tick(now());
    clock.timer(TICK_MS, tick);
  };
  tick();
  const rig: Rig = {
    ...{ clock, platform, operator, profile, fleet, said },
    add: (name, fate = "good") => {
      const device = platform.core.createDevice({ name, profileId: profile.id.id });
      const one = new ScriptedDevice(platform, device, fate);
      fleet.push(one);
      return one;
    },
    named: (name) => fleet.find(({ device }) => device.name === name) as ScriptedDevice,
    release: async (version) => {
      const { id } = await operator.ota.create({ title: "pump", version, deviceProfileId: profile.id.id });
      await operator.ota.upload(id.id, Buffer.from(`image ${version}`));
      packages.set(id.id, version);
      return { packageId: id.id, title: "pump", version };
    },
    rollout: (target, options = {}, during = () => undefined) =>
      Rollout.open(operator, {
        ...{ target, profile, stages: parseStages("1,10%,100%"), stopAt: 1 },
        ...{ soakMs: 10 * MINUTE, timeoutMs: 60 * MINUTE, leaveOffline: false },
        clock: {
          now,
          wait: async (ms) => {
            await during();
            await clock.advance(Math.max(ms, LOOK_MS));
          },
        },
        report: {
          begins: (stage, { devices, all }) => said.push(`stage ${stage}: ${devices} of ${all}`),
          looked: () => {},
          ends: (stage) => said.push(`stage ${stage} is over`),
          offline: (device) => said.push(`${device} is offline`),
          failed: (device, why) => said.push(`${device} ${why}`),
          note: (text) => said.push(text),
        },
        ...options,
      }),
    run: async (target, options, during) => (await rig.rollout(target, options, during)).run(),
    undo: async (target) => undo(operator, profile, target, await toUndo(operator, profile, target)),
    assigned: async () => {
      const { data } = await operator.devices.list({ pageSize: 1000 });
      const versionOf = (id: string | undefined): string =>
        id === undefined ? "profile" : (packages.get(id) ?? id);
      return Object.fromEntries(data.map(({ name, firmwareId }) => [name, versionOf(firmwareId?.id)]));
    },
  };
  for (let n = 0; n < devices; n++) rig.add(`pump-${String(n).padStart(4, "0")}`);
  await clock.advance(MINUTE);
  const ids = fleet.map(({ device }) => device.id);
  t.is((await lookAt(operator, ids)).states.size, devices);
  return rig;
}

/** How many devices began an update to that version. */
export const began = ({ fleet }: Rig, version: string): number =>
  fleet.filter((one) => one.began.includes(version)).length;

/** The name of the device that is the first stage of 1. */
export async function firstOf(rig: Rig): Promise<string> {
  const target = { packageId: "none", title: "pump", version: "0" };
  return (await rig.rollout(target)).members.all[0]?.name ?? "";
}
