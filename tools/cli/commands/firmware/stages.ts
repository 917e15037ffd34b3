// `mote firmware push --stages`, and --undo: the rollout as a command.
import { setTimeout as wait } from "node:timers/promises";
import { ago } from "../../../duration.js";
import { FAILED, UNANSWERED } from "../../../exit-codes.js";
import type { Operator } from "../../../operator/operator.js";
import { openPart } from "../../../operator/rollout-record.js";
import type { DeviceProfile } from "../../../operator/shapes.js";
import { confirm } from "../../ask.js";
import { ExitError } from "../../exit-error.js";
import { bar, Progress } from "../../output/progress.js";
import { note, outJson, plain, some } from "../../output/table.js";
import type { DeviceEnd } from "../../rollout/evidence.js";
import { readMembers, type Target } from "../../rollout/members.js";
import type { Counts, Outcome, Report } from "../../rollout/outcome.js";
import { Rollout } from "../../rollout/rollout.js";
import type { Stage } from "../../rollout/stages.js";
import { toUndo, undo } from "../../rollout/undo.js";

interface StageFlags {
  stages: readonly Stage[];
  stopAt: number;
  soak: number;
  timeout: number;
  leaveOffline?: boolean;
  json?: boolean;
}

/** Events shown above the progress bar. */
const SHOWN = 5;

export async function rollOut(
  operator: Operator,
  { target, profile, flags }: { target: Target; profile: DeviceProfile; flags: StageFlags },
): Promise<void> {
  const rollout = await Rollout.open(operator, {
    ...{ target, profile, stages: flags.stages, stopAt: flags.stopAt, soakMs: flags.soak },
    ...{ timeoutMs: flags.timeout, leaveOffline: flags.leaveOffline === true },
    clock: { now: Date.now, wait },
    report: reportOf(flags.stages.length),
  });
  noteLeftOut(rollout.leftOut);
  const outcome = await rollout.run();
  noteLeftOut(rollout.leftOut);
  conclude(outcome, target, flags);
}

/** A line per reason. */
function noteLeftOut(devices: readonly DeviceEnd[]): void {
  for (const line of leftOutLines(devices)) note(`${capitalized(line)}.`);
}

function leftOutLines(devices: readonly DeviceEnd[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const { device, why } of devices) reasons.set(why, [...(reasons.get(why) ?? []), device]);
  return [...reasons].map(([why, names]) => `left out: ${some(names)}: ${plain(why)}`);
}

/** Throws ExitError if another rollout of the profile is not over. */
export async function refuseOther(
  operator: Operator,
  profile: DeviceProfile,
  packageId: string,
): Promise<void> {
  const { other } = await readMembers(operator, profile, {
    ...{ packageId, title: "", version: "", checksum: undefined },
  });
  if (!other) return;
  const { record, devices } = other;
  const image = `${plain(record.title)} ${plain(record.version)}`;
  throw new ExitError(
    FAILED,
    openPart(record) === "hand-over"
      ? `${image} is being handed over to the profile, with ${counted(devices.length)} left (${some(devices)}): run its command again to finish it`
      : `${image} is rolled out to ${counted(devices.length)} of the profile (${some(devices)}): finish it, take it back with --undo, or take over with --replace`,
  );
}

function reportOf(stages: number): Report {
  const progress = new Progress();
  const said: string[] = [];
  let drawn: string[] = [];
  const draw = (): void => progress.show([...said.slice(-SHOWN), ...drawn], [...said]);
  const say = (text: string): void => {
    said.push(text);
    draw();
  };
  return {
    begins: (stage, { devices, all }) => say(`Stage ${stage} of ${stages}: ${devices} of ${counted(all)}.`),
    looked: (stage, found) => {
      const { devices, standings, leftOut } = found;
      const text = `stage ${stage}: ${standingsOf(found)}`;
      drawn = [`${bar(devices === 0 ? 1 : standings.passed / devices)}  ${text}`, ...leftOutLines(leftOut)];
      draw();
    },
    ends: (stage) => say(`Stage ${stage} of ${stages} is over.`),
    offline: (device, since) => {
      const when = since === 0 ? "was never heard of" : `was heard of ${ago(since)}`;
      say(`${plain(device)} is offline and ${when}: the stage waits for it.`);
    },
    failed: (device, why) => say(`${plain(device)}  ${plain(why)}`),
    note: (text) => say(plain(text)),
  };
}

const WORDS: Readonly<Record<keyof Counts["standings"], string>> = {
  ...{ unassigned: "not assigned yet", unknown: "not returned by the platform", open: "updating" },
  ...{ offline: "offline", soaking: "confirmed, watched" },
  ...{ unproven: "without a checksum", passed: "good", failed: "failed", left: "left behind" },
};

function standingsOf({ standings }: Counts): string {
  const parts = Object.entries(standings).filter(([, number]) => number > 0);
  return parts.map(([kind, number]) => `${number} ${WORDS[kind as keyof typeof WORDS]}`).join(", ");
}

function conclude(outcome: Outcome, target: Target, flags: StageFlags): void {
  const { assigned, all, passed, stage, left } = outcome;
  if (flags.json) outJson({ packageId: target.packageId, ...outcome });
  const image = `${plain(target.title)} ${plain(target.version)}`;
  const have = `${assigned} of ${counted(all)} ${assigned === 1 ? "has" : "have"} ${image} assigned`;
  if (outcome.end === "done") {
    if (left.length > 0)
      note(`Left behind, as they are offline: ${some(left)}. They update when they are back.`);
    const whose = outcome.isProfiles ? " It is the profile's firmware now." : "";
    note(`Updated and watched: ${passed} of ${counted(all)}.${whose}`);
    return;
  }
  if (outcome.end === "withheld")
    throw new ExitError(
      UNANSWERED,
      `updated and watched: ${passed} of ${counted(all)}; the profile keeps its firmware, which these devices follow: ${some(outcome.devices.map(({ device, why }) => `${device} (${why})`))} (move them to another profile, or assign each a package of its own, then run the same command again)`,
    );
  const who = some(outcome.devices.map(({ device, why }) => `${device} (${why})`));
  if (outcome.end === "unproven") {
    const none = all === 0 ? "no device of the profile took part" : `no device passed: ${who}`;
    throw new ExitError(UNANSWERED, `${none}; ${image} is not the profile's firmware`);
  }
  if (outcome.end === "overtaken")
    throw new ExitError(FAILED, `somebody else changed this rollout: ${who}; no more is assigned`);
  const why =
    outcome.end === "failed"
      ? `stopped in stage ${stage} of ${flags.stages.length}: ${who}`
      : `stage ${stage} of ${flags.stages.length} did not finish before --timeout: ${who}`;
  throw new ExitError(
    UNANSWERED,
    `${why}; ${have}, the others do not get it (continue: same command; revert: --undo)`,
  );
}

export async function takeBack(
  operator: Operator,
  {
    target,
    profile,
    flags,
  }: { target: Target; profile: DeviceProfile; flags: { yes?: boolean; json?: boolean } },
): Promise<void> {
  const members = await toUndo(operator, profile, target);
  const image = `${plain(target.title)} ${plain(target.version)}`;
  if (members.length === 0) {
    if (flags.json) outJson({ devices: 0, stay: [], profile: "unchanged", changed: [], failed: [] });
    else note(`No device of the profile ${plain(profile.name)} has ${image} from a rollout.`);
    return;
  }
  const too = profile.firmwareId?.id === target.packageId ? ` and the profile ${plain(profile.name)}` : "";
  await confirm(`Take ${image} back from ${counted(members.length)}${too}?`, flags.yes);
  const undone = await undo(operator, profile, target, members);
  const { devices, stay, changed, failed, profile: given } = undone;
  if (flags.json) outJson(undone);
  note(`${image} is no longer assigned to ${counted(devices)}.`);
  if (devices > stay.length) note(`Previous firmware assigned again: ${counted(devices - stay.length)}.`);
  if (given === "cleared")
    note(`The profile ${plain(profile.name)} has no firmware assigned now, as before.`);
  if (given === "restored") note(`The profile ${plain(profile.name)} has its previous firmware again.`);
  if (stay.length > 0)
    note(`No previous firmware, still running ${image} until you push another image: ${some(stay)}.`);
  if (changed.length > 0) note(`Skipped, firmware changed since: ${some(changed)}.`);
  if (failed.length > 0)
    throw new ExitError(
      FAILED,
      `not taken back: ${some(failed.map(({ device, why }) => `${device} (${why})`))}`,
    );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const counted = (devices: number): string => (devices === 1 ? "1 device" : `${devices} devices`);
