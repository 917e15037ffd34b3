// Takes a rollout back: every device gets what it had before.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { ROLLOUT_KEY, type RolloutRecord } from "../../operator/rollout-record.js";
import type { DeviceProfile } from "../../operator/shapes.js";
import { eachOf } from "../operator/operator.js";
import type { DeviceEnd } from "./evidence.js";
import { EXCLUDED, isAssigned, type Member, readMembers, type Target } from "./members.js";

/** A rollout that hands over at the same time gives up once it sees the marks. */
const PROFILE_READS = 4;

export interface Undone {
  /** Number of devices that have their previous firmware again. */
  readonly devices: number;
  /** Of those: how many run the image that was taken back, and have nothing else assigned now. */
  readonly stay: readonly string[];
  /** What became of the profile's package, if that was the image. */
  readonly profile: "cleared" | "restored" | "unchanged";
  /** Devices left alone, because their firmware was changed since. */
  readonly changed: readonly string[];
  /** Not given back, and why. The profile is named `profile NAME`. */
  readonly failed: readonly DeviceEnd[];
}

/** Devices that got the image from this rollout. Throws OperatorError for a partial list. */
export async function toUndo(operator: Operator, profile: DeviceProfile, target: Target): Promise<Member[]> {
  const { all, pinned } = await readMembers(operator, profile, target);
  return [...all, ...pinned].filter(({ record }) => record !== undefined);
}

/**
 * Marks the devices, gives them back, then their profile, and deletes the marks last: after an
 * interruption the next
 * call goes on. A device that had a package of its own has it before its profile's could reach it.
 * The profile is read
 * again at the end: a hand-over at the same time must not win.
 */
export async function undo(
  operator: Operator,
  profile: DeviceProfile,
  target: Target,
  members: readonly Member[],
): Promise<Undone> {
  const failed: DeviceEnd[] = [];
  /** Resolves with the members for which `step` succeeded. */
  const each = async (
    of: readonly Member[],
    step: (member: Member) => Promise<unknown>,
  ): Promise<Member[]> => {
    const done = await eachOf(of, async (member) => {
      const why = await problem(operator, member.record?.own, () => step(member));
      if (why !== undefined) failed.push({ device: member.name, why });
      return why === undefined;
    });
    return of.filter((_, at) => done[at]);
  };
  const { attributes, ota, profiles } = operator;
  const marked = await each(members, ({ id, record }) =>
    attributes.set(id, "SERVER_SCOPE", { [ROLLOUT_KEY]: { ...record, undoing: true } }),
  );
  const now = (await profiles.get(profile.id.id)).firmwareId?.id;
  // After the end of a rollout, a device with the image of its own was pinned to it.
  const isOurs = (member: Member): boolean =>
    member.record?.ended && member.own === target.packageId
      ? false
      : isAssigned(member, target, now) || member.own === member.record?.own;
  const changed = marked.filter((member) => !isOurs(member));
  const restored = await each(marked.filter(isOurs), async ({ id, own, record }) => {
    if (own !== record?.own) await ota.assign(id, record?.own);
  });
  const before = packageBefore(members);
  let isGiven = false;
  const giveBack = (): Promise<string | undefined> =>
    problem(operator, before, async () => {
      if (await restoreProfile(operator, profile, target, before)) isGiven = true;
    });
  let stuck = await giveBack();
  let back = restored;
  // Without the marks, the next call would not know what the profile had.
  if (stuck === undefined) {
    const unmarked = await each([...restored, ...changed], ({ id }) =>
      attributes.delete(id, "SERVER_SCOPE", [ROLLOUT_KEY]),
    );
    back = unmarked.filter((member) => restored.includes(member));
    stuck = await giveBack();
  }
  if (stuck !== undefined) {
    failed.push({ device: `profile ${profile.name}`, why: stuck });
    back = back.filter(({ record }) => record?.own !== undefined);
  }
  const follows = now === target.packageId ? before : now;
  const stays = ({ seen, record }: Member): boolean =>
    (record?.own ?? follows) === undefined && seen?.title === target.title && seen.version === target.version;
  return {
    ...{ devices: back.length, failed },
    profile: !isGiven ? "unchanged" : before === undefined ? "cleared" : "restored",
    stay: back.filter(stays).map(({ name }) => name),
    changed: changed.map(({ name }) => name),
  };
}

/** Gives the profile `before` until it has the image no more. True if it had the image. */
async function restoreProfile(
  { ota, profiles }: Operator,
  { id }: DeviceProfile,
  { packageId }: Target,
  before: string | undefined,
): Promise<boolean> {
  for (let reads = 0; reads < PROFILE_READS && before !== packageId; reads++) {
    if ((await profiles.get(id.id)).firmwareId?.id !== packageId) return reads > 0;
    await ota.assignToProfile(id.id, before);
  }
  if (before !== packageId)
    throw new OperatorError(0, "another operator keeps giving it the image: stop that rollout first");
  return false;
}

/** The profile's package before the hand-over, or at the last assignment without one. */
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

/** Why `step`, which gives `packageId` back, failed; undefined if it did not. */
async function problem(
  { ota }: Operator,
  packageId: string | undefined,
  step: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.isNotFound) return EXCLUDED.deleted;
    if (error.isTransient || packageId === undefined) return error.message;
    const isKept = await ota.get(packageId).then(
      () => true,
      (found) => !(found instanceof OperatorError && found.isNotFound),
    );
    return isKept ? error.message : "its earlier package was deleted: assign another one, then repeat --undo";
  }
}
