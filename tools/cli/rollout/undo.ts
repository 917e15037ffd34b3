// Takes a rollout back: every device gets what it had before.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord } from "../../operator/rollout-record.js";
import type { DeviceProfile } from "../../operator/shapes.js";
import { eachOf } from "../operator/operator.js";
import { isAssigned, type Member, readMembers, type Target } from "./members.js";

const AT_A_TIME = 8;

export interface Undone {
  /** Devices that have what they had before. */
  readonly devices: number;
  /** Of those: how many run the image that was taken back, and have nothing else assigned now. */
  readonly stay: readonly string[];
  /** Given something else since: left as they are. */
  readonly changed: readonly string[];
  /** Not given back, with what the platform said. */
  readonly failed: readonly { readonly device: string; readonly why: string }[];
}

/** The devices that this rollout gave the image. Throws OperatorError if the platform does not return all devices. */
export async function toUndo(operator: Operator, profile: DeviceProfile, target: Target): Promise<Member[]> {
  const { all, pinned } = await readMembers(operator, profile, target);
  return [...all, ...pinned].filter(({ record }) => record !== undefined);
}

/**
 * First the devices, then the profile, and the notes last: whatever ends it in between, the next call goes on. A device that had a package
 * of its own has it before its profile's could reach it.
 */
export async function undo(
  operator: Operator,
  { id }: DeviceProfile,
  target: Target,
  members: readonly Member[],
): Promise<Undone> {
  const failed: { device: string; why: string }[] = [];
  const back: Member[] = [];
  const changed: string[] = [];
  const now = await operator.profiles.get(id.id);
  const before = packageBefore(members);
  await eachOf(members, AT_A_TIME, async (member) => {
    const isOurs = isAssigned(member, target, now.firmwareId?.id) || member.own === member.record?.own;
    if (!isOurs) changed.push(member.name);
    else if (await restored(operator, member, failed)) back.push(member);
  });
  if (now.firmwareId?.id === target.packageId) await operator.ota.assignToProfile(id.id, before);
  await eachOf(
    [...back, ...members.filter(({ name }) => changed.includes(name))],
    AT_A_TIME,
    ({ id: device }) => operator.attributes.delete(device, "SERVER_SCOPE", [ROLLOUT_KEY]),
  );
  const profile = now.firmwareId?.id === target.packageId ? before : now.firmwareId?.id;
  const stays = ({ seen, record }: Member): boolean =>
    (record?.own ?? profile) === undefined && seen?.title === target.title && seen.version === target.version;
  return { devices: back.length, stay: back.filter(stays).map(({ name }) => name), changed, failed };
}

/** The package that the profile had when the rollout handed over, or else when it last assigned a device. */
function packageBefore(members: readonly Member[]): string | undefined {
  const records = members.flatMap(({ record }) => record ?? []);
  const isLater = (one: RolloutRecord, other: RolloutRecord): boolean =>
    (one.handedOver ?? 0) - (other.handedOver ?? 0) > 0 ||
    (one.handedOver === other.handedOver && one.at > other.at);
  return records.reduce<RolloutRecord | undefined>(
    (last, one) => (!last || isLater(one, last) ? one : last),
    undefined,
  )?.profile;
}

async function restored(
  { ota }: Operator,
  member: Member,
  failed: { device: string; why: string }[],
): Promise<boolean> {
  const { id, name, own, record } = member;
  if (own === record?.own) return true;
  try {
    await ota.assign(id, record?.own);
    return true;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    failed.push({ device: name, why: error.message });
    return false;
  }
}
