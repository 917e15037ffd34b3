// A local platform and its operator on a clock that stands still until a rollout waits, with
// scripted devices.
import type { ExecutionContext } from "ava";
import { lookAt } from "../../../../tools/cli/rollout/device-state.js";
import type { Target } from "../../../../tools/cli/rollout/members.js";
import type { Outcome, RolloutOptions } from "../../../../tools/cli/rollout/outcome.js";
import { Rollout } from "../../../../tools/cli/rollout/rollout.js";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { toUndo, type Undone, undo } from "../../../../tools/cli/rollout/undo.js";
import type { Operator } from "../../../../tools/operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord, readRollout } from "../../../../tools/operator/rollout-record.js";
import type { DeviceProfile } from "../../../../tools/operator/shapes.js";
import type { Platform } from "../../../../tools/platform/server.js";
import { FakeClock } from "../../../fakes/clock.js";
import { operatorOf } from "../../operator-of.js";
import { platformFor } from "../../platform-for.js";
import { type Fate, keepTicking, MINUTE, ScriptedDevice } from "../../scripted-device.js";

export { MINUTE };

const TICK_MS = 5_000;
/** Looks are further apart than in life, so that hours pass quickly. */
const LOOK_MS = 20_000;

export interface Rig {
  readonly clock: FakeClock;
  readonly platform: Platform;
  readonly operator: Operator;
  readonly profile: DeviceProfile;
  readonly fleet: ScriptedDevice[];
  /** What the rollouts said. */
  readonly said: string[];
  /** pump 2.0.0, on the platform. */
  readonly target: Target;
  /** How often the rollout that waited last has waited. */
  readonly waits: number;
  add(name: string, fate?: Fate, title?: string): ScriptedDevice;
  named(name: string): ScriptedDevice;
  /** A package on the platform. */
  release(version: string, content?: string): Promise<Target>;
  /** Of `target`. `during`: called at each wait. */
  rollout(options?: Partial<RolloutOptions>, during?: () => unknown): Promise<Rollout>;
  run(options?: Partial<RolloutOptions>, during?: () => unknown): Promise<Outcome>;
  undo(target?: Target): Promise<Undone>;
  record(name: string): Promise<RolloutRecord | undefined>;
  /** The id of the profile's package. */
  profilePackage(): Promise<string | undefined>;
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
  keepTicking(platform.core.clock, fleet, TICK_MS);
  const release = async (version: string, content = `image ${version}`): Promise<Target> => {
    const { id } = await operator.ota.create({ title: "pump", version, deviceProfileId: profile.id.id });
    const { checksum } = await operator.ota.upload(id.id, Buffer.from(content));
    packages.set(id.id, version);
    return { packageId: id.id, title: "pump", version, checksum };
  };
  const target = await release("2.0.0");
  let waits = 0;
  const rig: Rig = {
    ...{ clock, platform, operator, profile, fleet, said, target, release },
    get waits() {
      return waits;
    },
    add: (name, fate = "good", title = "pump") => {
      const one = new ScriptedDevice(platform, name, { profileId: profile.id.id, fate, title });
      fleet.push(one);
      return one;
    },
    named: (name) => fleet.find(({ device }) => device.name === name) as ScriptedDevice,
    rollout: (options = {}, during = () => undefined) => {
      let own = 0;
      return Rollout.open(operator, {
        ...{ target, profile, stages: parseStages("1,10%,100%"), stopAt: 1 },
        ...{ soakMs: 10 * MINUTE, timeoutMs: 60 * MINUTE, leaveOffline: false },
        clock: {
          now,
          wait: async (ms) => {
            waits = ++own;
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
      });
    },
    run: async (options, during) => (await rig.rollout(options, during)).run(),
    undo: async (undone = target) => undo(operator, profile, undone, await toUndo(operator, profile, undone)),
    record: async (name) => {
      const found = await operator.attributes.get(rig.named(name).id, "SERVER_SCOPE", [ROLLOUT_KEY]);
      return readRollout(found[ROLLOUT_KEY]);
    },
    profilePackage: async () => (await operator.profiles.get(profile.id.id)).firmwareId?.id,
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
  const target = { packageId: "none", title: "pump", version: "0", checksum: undefined };
  return (await rig.rollout({ target })).members.all[0]?.name ?? "";
}
