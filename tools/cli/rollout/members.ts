// The devices of a rollout: who takes part, and what the rollout writes for each of them.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { openPart, ROLLOUT_KEY, type RolloutRecord } from "../../operator/rollout-record.js";
import type { Device, DeviceProfile } from "../../operator/shapes.js";
import { eachOf } from "../operator/operator.js";
import { type Image, isOtherTitle } from "../operator/updates.js";
import { type DeviceState, lookAt } from "./device-state.js";
import type { DeviceEnd } from "./evidence.js";
import { inOrder } from "./stages.js";

/** How long a query may still return what was there before a write. */
const LAG_MS = 60_000;

/** The image of the rollout. */
export interface Target extends Image {
  readonly packageId: string;
}

export interface Member {
  readonly id: string;
  readonly name: string;
  /** The package assigned to the device itself; undefined: it follows its profile. */
  own: string | undefined;
  /** What this rollout noted about it; undefined if the rollout did not assign it. */
  record: RolloutRecord | undefined;
  /** Undefined if the last look did not return it. */
  seen: DeviceState | undefined;
}

export interface Members {
  /** In the order of the stages. */
  readonly all: readonly Member[];
  /** Devices with a package of their own that no rollout assigned: they take no part. */
  readonly pinned: readonly Member[];
  /** Devices that report another firmware title: they take no part. */
  readonly otherTitle: readonly Member[];
  /** Members of an earlier reading that take part no more, by id. */
  readonly excluded: ReadonlyMap<string, DeviceEnd>;
  /** Another rollout of this profile that is not over, and the names of its devices. */
  readonly other: { readonly record: RolloutRecord; readonly devices: readonly string[] } | undefined;
  /** The profile's package now. */
  readonly profile: string | undefined;
}

/** Why a rollout stops at a device that `--undo` reached first. */
export const TAKEN_BACK = "being taken back";

export const EXCLUDED = {
  deleted: "deleted from the platform",
  moved: "moved to another profile",
  pinned: "given another firmware meanwhile",
} as const;

/**
 * Reads who takes part. A member of an earlier reading drops out only if the platform confirms that
 * it is deleted,
 * moved or pinned. Throws OperatorError if the answers are incomplete.
 */
export async function readMembers(
  operator: Operator,
  { id, name }: DeviceProfile,
  target: Target,
  earlier: readonly Member[] = [],
): Promise<Members> {
  const profile = await operator.profiles.get(id.id);
  const listed: Device[] = await operator.devices.ofProfile(profile);
  const isListed = new Set(listed.map((one) => one.id.id));
  const excluded = await confirmAbsent(
    operator,
    id.id,
    earlier.filter((member) => !isListed.has(member.id)),
  );
  const { states, deleted } = await lookAt(operator, [...isListed]);
  const missing = listed.filter((one) => !states.has(one.id.id) && !deleted.has(one.id.id));
  if (missing.length > 0)
    throw new OperatorError(
      0,
      `the platform lists ${missing[0]?.name} and does not return its state (${missing.length} of ${listed.length} devices of the profile ${name}): try again`,
    );
  const found: Member[] = [];
  const pinned: Member[] = [];
  const otherTitle: Member[] = [];
  const others: { name: string; record: RolloutRecord }[] = [];
  for (const device of listed) {
    const seen = states.get(device.id.id);
    if (!seen) continue;
    const own = device.firmwareId?.id;
    const { record } = seen;
    const isOther =
      own !== undefined && record?.package === own && own !== target.packageId && openPart(record);
    if (isOther) others.push({ name: device.name, record });
    // A finished rollout says nothing once the profile has other firmware.
    const isPast = record?.ended && !record.undoing && profile.firmwareId?.id !== target.packageId;
    const ours = isOurRollout(record, target) && !isPast ? record : undefined;
    // This rollout noted that package and was interrupted before it assigned its own.
    const isBegun = ours !== undefined && ours.own === own;
    const isPinned = own !== undefined && own !== target.packageId && !isOther && !isBegun;
    const group = isPinned ? pinned : !ours && hasOtherTitle(seen, target) ? otherTitle : found;
    group.push({ id: device.id.id, name: device.name, own, seen, record: ours });
  }
  for (const member of earlier) {
    const end = (why: string): void => void excluded.set(member.id, { device: member.name, why });
    if (deleted.has(member.id)) end(EXCLUDED.deleted);
    if (pinned.some(({ id: one }) => one === member.id)) end(EXCLUDED.pinned);
    const other = otherTitle.find(({ id: one }) => one === member.id);
    if (other) end(titleOf(other));
  }
  const [first] = others;
  return {
    ...{ all: inOrder(found), pinned, otherTitle, excluded, profile: profile.firmwareId?.id },
    other: first && { record: first.record, devices: others.map((one) => one.name) },
  };
}

/** The device runs another firmware, so it takes no part. */
export const hasOtherTitle = (seen: DeviceState | undefined, { title }: Target): boolean =>
  isOtherTitle(seen?.title, title);

/** `running the firmware valve 1.0.0` */
export const titleOf = ({ seen }: Member): string =>
  `running the firmware ${[seen?.title, seen?.version].join(" ").trim()}`;

/** Members that the profile's list lacks. Throws unless each is deleted or moved. */
async function confirmAbsent(
  { devices }: Operator,
  profileId: string,
  absent: readonly Member[],
): Promise<Map<string, DeviceEnd>> {
  const excluded = new Map<string, DeviceEnd>();
  await eachOf(absent, async ({ id, name }) => {
    const device = await devices.find(id);
    if (device?.deviceProfileId?.id === profileId)
      throw new OperatorError(0, `the platform's device list lacks ${name}: try again`);
    excluded.set(id, { device: name, why: device ? EXCLUDED.moved : EXCLUDED.deleted });
  });
  return excluded;
}

/** A record of another package says nothing about this rollout. */
export const isOurRollout = (record: RolloutRecord | undefined, { packageId }: Target): boolean =>
  record?.package === packageId;

/** The image is assigned to it, by itself or by its profile. */
export function isAssigned({ own }: Member, { packageId }: Target, profile: string | undefined): boolean {
  return (own ?? profile) === packageId;
}

/** `again`: the platform was busy, or another operator changed the device meanwhile. */
export type Assigned = "assigned" | "again" | keyof typeof EXCLUDED;

/** Records the previous package, then assigns: an interrupted call can be repeated. */
export async function assign(
  { devices, attributes }: Operator,
  member: Member,
  target: Target,
  note: Pick<RolloutRecord, "stage" | "plan" | "at" | "profile"> & { readonly profileId: string },
): Promise<Assigned> {
  const { profileId, ...noted } = note;
  try {
    const device = await devices.find(member.id);
    if (!device) return "deleted";
    if (device.deviceProfileId?.id !== profileId) return "moved";
    const own = device.firmwareId?.id;
    if (own !== target.packageId) {
      if (own !== member.own) return "pinned";
      const { packageId, title, version } = target;
      const record: RolloutRecord = {
        ...{ package: packageId, title, version, ...noted },
        ...(own !== undefined && { own }),
      };
      await attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record });
      member.record = record;
      try {
        await devices.save({ ...device, firmwareId: { entityType: "OTA_PACKAGE", id: packageId } });
      } catch (error) {
        // A refusal leaves no record. A failure that may have assigned the image keeps it.
        if (isRefusal(error)) await restoreRecord(attributes, member);
        throw error;
      }
    }
    member.own = target.packageId;
    return "assigned";
  } catch (error) {
    if (mayRetry(error)) return "again";
    throw error;
  }
}

async function restoreRecord(attributes: Operator["attributes"], { id, seen }: Member): Promise<void> {
  if (seen?.record) await attributes.set(id, "SERVER_SCOPE", { [ROLLOUT_KEY]: seen.record });
  else await attributes.delete(id, "SERVER_SCOPE", [ROLLOUT_KEY]);
}

/** Not for an answer that cannot be read: the platform may have done what it was asked. */
function isRefusal(error: unknown): boolean {
  return error instanceof OperatorError && error.status >= 400 && !mayRetry(error);
}

/** After a 404 too: the next look finds out whether the device is deleted. */
function mayRetry(error: unknown): boolean {
  return error instanceof OperatorError && (error.isTransient || error.status === 404);
}

/** Changes a device's record. A write that fails is repeated with the next look. */
export async function updateRecord(
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
    if (!mayRetry(error)) throw error;
  }
}

/** What another operator did to a device that this rollout assigned; undefined: nothing. */
export function conflictingAssignment(
  { record, seen }: Member,
  target: Target,
  now: number,
): string | undefined {
  if (!record || !seen) return undefined;
  const found = seen.record;
  if (isOurRollout(found, target)) return found?.undoing ? TAKEN_BACK : undefined;
  const isSure = now - record.at > LAG_MS || (found?.at ?? 0) > record.at;
  if (!isSure) return undefined;
  return found ? `${found.title} ${found.version}` : "taken back";
}
