// The end of a rollout: the profile gets the image, and the devices follow their profile again.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord } from "../../operator/rollout-record.js";
import { eachOf } from "../operator/operator.js";
import { ProvenRollout } from "./evidence.js";
import type { Member } from "./members.js";

const AT_A_TIME = 8;

/**
 * Every device of the profile gets the image, later ones too. First each device's record gets the profile's present
 * package, which `--undo` gives back. Rejects if the platform fails; the next call goes on.
 */
export async function handOver(
  operator: Operator,
  proof: ProvenRollout,
  members: readonly Member[],
  now: number,
): Promise<void> {
  if (!ProvenRollout.isProof(proof)) throw new TypeError("a hand-over needs a proven rollout");
  const { packageId, profileId } = proof;
  const given = members.filter(({ own, record }) => record && own === packageId);
  const before = (await operator.profiles.get(profileId)).firmwareId?.id;
  if (before !== packageId) {
    await eachOf(given, AT_A_TIME, (member) => noteProfile(operator, member, before, now));
    await operator.ota.assignToProfile(profileId, packageId);
  }
  await eachOf(given, AT_A_TIME, (member) => followProfile(operator, member, packageId));
}

async function noteProfile(
  { attributes }: Operator,
  member: Member,
  before: string | undefined,
  now: number,
): Promise<void> {
  const { profile: _, ...rest } = member.record as RolloutRecord;
  const record = { ...rest, handedOver: now, ...(before !== undefined && { profile: before }) };
  await unlessDeleted(attributes.set(member.id, "SERVER_SCOPE", { [ROLLOUT_KEY]: record }));
  member.record = record;
}

/** A device that was given another package meanwhile keeps it. */
async function followProfile({ devices }: Operator, { id }: Member, packageId: string): Promise<void> {
  const device = await devices.find(id);
  if (device?.firmwareId?.id === packageId)
    await unlessDeleted(devices.save({ ...device, firmwareId: null }));
}

async function unlessDeleted(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof OperatorError && error.isNotFound)) throw error;
  }
}
