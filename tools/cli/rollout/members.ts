// The devices of a rollout, and what is done to each of them.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord } from "../../operator/rollout-record.js";
import type { Device, DeviceProfile } from "../../operator/shapes.js";
import type { Version } from "../operator/updates.js";
import { type Seen, seeAll } from "./device-state.js";
import { inOrder } from "./stages.js";

/** A platform may take so long until a query finds what was written. */
const LAG_MS = 60_000;

/** What is rolled out. */
export interface Target extends Version {
  readonly packageId: string;
}

export interface Member {
  readonly id: string;
  readonly name: string;
  /** Its own assignment; undefined: it has its profile's. */
  own: string | undefined;
  /** What this rollout noted of it; undefined of one that it did not assign. */
  record: RolloutRecord | undefined;
  seen: Seen;
  /** It stays behind: it was offline for too long. */
  left?: boolean;
}

export interface Members {
  /** In the order of the stages. */
  readonly all: readonly Member[];
  /** Those with a firmware of their own that no rollout gave them: they take no part. */
  readonly pinned: readonly Member[];
  /** What another rollout assigned, and to how many. */
  readonly other: { readonly record: RolloutRecord; readonly devices: number } | undefined;
  /** The profile's package now. */
  readonly profile: string | undefined;
}

/** Reads who takes part. */
export async function readMembers(
  operator: Operator,
  { id, name }: DeviceProfile,
  target: Target,
): Promise<Members> {
  const [profile, seen] = [await operator.profiles.get(id.id), await seeAll(operator, name)];
  const found: Member[] = [];
  const pinned: Member[] = [];
  const others: RolloutRecord[] = [];
  for (const device of await devicesOf(operator, id.id, name)) {
    const known = seen.get(device.id.id);
    if (!known) continue;
    const own = device.firmwareId?.id;
    const { record } = known;
    const isOther = own !== undefined && record?.package === own && own !== target.packageId;
    if (isOther) others.push(record);
    const isPinned = own !== undefined && own !== target.packageId && !isOther;
    const member = { id: device.id.id, name: device.name, own, seen: known, record: ours(record, target) };
    (isPinned ? pinned : found).push(member);
  }
  const [first] = others;
  return {
    ...{ all: inOrder(found), pinned, profile: profile.firmwareId?.id },
    other: first && { record: first, devices: others.length },
  };
}

/** A record of another package says nothing of this one. */
export const ours = (record: RolloutRecord | undefined, { packageId }: Target): RolloutRecord | undefined =>
  record?.package === packageId ? record : undefined;

async function devicesOf({ devices }: Operator, profileId: string, type: string): Promise<Device[]> {
  const found: Device[] = [];
  for (let page = 0; ; page++) {
    const { data, hasNext } = await devices.list({ page, type });
    found.push(...data.filter((one) => one.deviceProfileId?.id === profileId));
    if (!hasNext) return found;
  }
}

/** The image is assigned to it, by itself or by its profile. */
export function isAssigned({ own }: Member, { packageId }: Target, profile: string | undefined): boolean {
  return (own ?? profile) === packageId;
}

/** `again`: the platform was away, or somebody else changed the device meanwhile. */
export type Assigned = "assigned" | "again" | "gone" | "pinned";

/** Notes what the device had, then assigns: whatever ends this in between, it can be taken back, and the next call goes on. */
export async function assign(
  { devices, timeSeries, attributes }: Operator,
  member: Member,
  target: Target,
  note: Pick<RolloutRecord, "stage" | "plan" | "at" | "profile">,
): Promise<Assigned> {
  try {
    const device = await devices.get(member.id);
    const own = device.firmwareId?.id;
    if (own !== target.packageId) {
      if (own !== member.own) return "pinned";
      const { fw_state } = await timeSeries.latest(member.id, ["fw_state"]);
      const { packageId, title, version } = target;
      const record: RolloutRecord = {
        ...{ package: packageId, title, version, ...note },
        ...(own !== undefined && { own }),
        ...(fw_state && { seen: fw_state.ts }),
      };
      await attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record });
      member.record = record;
      await devices.save({ ...device, firmwareId: { entityType: "OTA_PACKAGE", id: packageId } });
    }
    member.own = target.packageId;
    return "assigned";
  } catch (error) {
    return outcomeOf(error);
  }
}

function outcomeOf(error: unknown): "again" | "gone" {
  if (!(error instanceof OperatorError)) throw error;
  if (error.status === 404) return "gone";
  if (error.status === 0 || error.status === 409 || error.status === 429 || error.status >= 500)
    return "again";
  throw error;
}

/** Changes what is noted. What fails is tried again with the next look. */
export async function amend(
  { attributes }: Operator,
  member: Member,
  change: Partial<RolloutRecord>,
): Promise<void> {
  if (!member.record) return;
  const record = { ...member.record, ...change };
  try {
    await attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record });
    member.record = record;
  } catch (error) {
    outcomeOf(error);
  }
}

/** What somebody else did to a device that this rollout assigned; undefined: nothing. A query may find for a while what was there before. */
export function otherwise({ record, seen }: Member, target: Target, now: number): string | undefined {
  const found = seen.record;
  if (!record || ours(found, target)) return undefined;
  const isSure = now - record.at > LAG_MS || (found?.at ?? 0) > record.at;
  if (!isSure) return undefined;
  return found ? `${found.title} ${found.version}` : "taken back";
}
