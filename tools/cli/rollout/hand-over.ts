// The end of a rollout: the profile gets the image, and the devices follow their profile again.
import { unlessMissing } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord, readRollout } from "../../operator/rollout-record.js";
import { eachOf } from "../operator/operator.js";
import type { DeviceEnd } from "./evidence.js";
import { type Member, TAKEN_BACK } from "./members.js";

/**
 * Every device of the profile gets the image, later ones too. First each device's record gets the
 * profile's present
 * package, which `--undo` gives back. Returns the devices that `--undo` takes back at the same
 * time: then the profile
 * keeps its package. Rejects if the platform fails; the next call goes on with the devices whose
 * records are not ended.
 */
export async function handOver(
  operator: Operator,
  { packageId, profileId }: { readonly packageId: string; readonly profileId: string },
  members: readonly Member[],
  now: number,
): Promise<DeviceEnd[]> {
  const given = members.filter(({ record }) => record && !record.ended);
  const before = (await operator.profiles.get(profileId)).firmwareId?.id;
  if (before !== packageId) {
    const undone = await takenBack(operator, given, (member) => noteProfile(operator, member, before, now));
    if (undone.length > 0) return undone;
    await operator.ota.assignToProfile(profileId, packageId);
  }
  // `--undo` marks the devices before it looks at the profile, so one of the two sees the other.
  const undone = await takenBack(operator, given);
  if (undone.length > 0) {
    if (before !== packageId) await operator.ota.assignToProfile(profileId, before);
    return undone;
  }
  await eachOf(given, (member) => unlessDeleted(followProfile(operator, member, packageId)));
  return [];
}

/** Reads each device's record, and calls `go` for devices that are not taken back. */
async function takenBack(
  { attributes }: Operator,
  members: readonly Member[],
  go: (member: Member) => Promise<void> = async () => {},
): Promise<DeviceEnd[]> {
  const undone: DeviceEnd[] = [];
  const check = async (member: Member): Promise<void> => {
    const found = await attributes.get(member.id, "SERVER_SCOPE", [ROLLOUT_KEY]);
    const record = readRollout(found[ROLLOUT_KEY]);
    if (record && !record.undoing) await go(member);
    else undone.push({ device: member.name, why: TAKEN_BACK });
  };
  await eachOf(members, (member) => unlessDeleted(check(member)));
  return undone;
}

async function noteProfile(
  { attributes }: Operator,
  member: Member,
  before: string | undefined,
  now: number,
): Promise<void> {
  const { profile: _, ...rest } = member.record as RolloutRecord;
  const record = { ...rest, handedOver: now, ...(before !== undefined && { profile: before }) };
  await attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record });
  member.record = record;
}

/** A device that was given another package meanwhile keeps it. The record ends last. */
async function followProfile(
  { devices, attributes }: Operator,
  member: Member,
  packageId: string,
): Promise<void> {
  const device = await devices.find(member.id);
  if (!device) return;
  if (device.firmwareId?.id === packageId) await devices.save({ ...device, firmwareId: null });
  const record = { ...(member.record as RolloutRecord), ended: true };
  await attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record });
  member.record = record;
}

const unlessDeleted = (work: Promise<unknown>): Promise<unknown> =>
  unlessMissing(work, ({ isNotFound }) => isNotFound);
