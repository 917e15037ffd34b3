import { type Command, Option } from "commander";
import { UNANSWERED } from "../../../../hosts/node/exit.js";
import type { Operator } from "../../../operator/operator.js";
import type { Algorithm } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { findDevice, findProfile } from "../../operator/find.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, yesOption } from "../../operator/operator.js";
import { type Target, UpdateWatch } from "../../operator/updates.js";
import { note, outJson, plain } from "../../output/table.js";
import { parseStages, type Stage } from "../../rollout/stages.js";
import type { Steps } from "../../steps.js";
import { count, durationOption, UsageError } from "../../usage.js";
import { follow, updateOf } from "./follow.js";
import { rollOut, takeBack } from "./stages.js";
import { load, uploaded } from "./upload.js";

interface PushFlags extends OperatorFlags {
  title: string;
  version: string;
  algorithm: Algorithm;
  device?: string;
  profile?: string;
  wait: boolean;
  timeout: number;
  stages?: readonly Stage[];
  stopAt?: number;
  soak?: number;
  leaveOffline?: boolean;
  replace?: boolean;
  undo?: boolean;
  yes?: boolean;
}

const ALGORITHMS = ["MD5", "SHA256", "SHA384", "SHA512", "CRC32", "MURMUR3_32", "MURMUR3_128"];
const AT_A_TIME = 8;
/** Of a stage, by default. */
const SOAK_MS = 600_000;

const HELP = `
Uploads the file as an OTA package (one of the same title, version and content is taken as it is), assigns it, and follows what the device, or each
device of the profile that has no assignment of its own, reports until it is UPDATED or FAILED.
Exit code 4: an update failed, or did not end within --timeout.

With --stages the devices of a profile get it one stage after the other: 1,10%,100% is one device, then those up to a tenth, then the rest, in the order
of the SHA-256 of their names, so that a device is always in the same one. The next stage begins when each device of this one is UPDATED and was online
for --soak. The first device that fails, or goes back to the image before, ends it with exit code 4: no more get it. The same command goes on where
it stood, from any machine; with --undo it gives every device what it had before.

Examples:
  mote firmware push build/greenhouse.bin --title greenhouse --version 2.0.0 --device greenhouse-7
  mote firmware push build/greenhouse.bin --title greenhouse --version 2.0.0 --profile greenhouse --no-wait
  mote firmware push build/greenhouse.bin --title greenhouse --version 2.0.0 --profile greenhouse --stages 1,10%,100%
  mote firmware push --title greenhouse --version 2.0.0 --profile greenhouse --undo`;

export function pushCommand(firmware: Command): void {
  yesOption(
    operatorOptions(
      firmware.command("push").description("upload an image, assign it, and follow the updates"),
    ),
  )
    .argument("[file]", "the image; not needed with --undo")
    .requiredOption("--title <title>", "of the firmware, as the device's own")
    .requiredOption("--version <version>", "of the image")
    .addOption(new Option("--algorithm <name>", "of the checksum").choices(ALGORITHMS).default("SHA256"))
    .addOption(new Option("--device <name>", "to update one device").conflicts("profile"))
    .option("--profile <name>", "to update all devices of a device profile")
    .option("--no-wait", "end when it is assigned")
    .addOption(
      durationOption("--timeout <duration>", "how long to follow; with --stages each of them", "30m"),
    )
    .addOption(
      new Option("--stages <list>", "of a profile, such as 1,10%,100%: go on only when a stage is good")
        .argParser(parseStages)
        .conflicts(["device", "undo"]),
    )
    .addOption(
      new Option("--stop-at <count>", "of devices that failed, which ends it (default: 1)").argParser(count),
    )
    .addOption(durationOption("--soak <duration>", "how long each device must be online (default: 10m)"))
    .option("--leave-offline", "go on without devices that are offline at the end of --timeout")
    .option("--replace", "go over another rollout that was not taken back")
    .option("--undo", "give the devices of a profile back what they had before --stages")
    .addHelpText("after", HELP)
    .action(push);
}

async function push(path: string | undefined, flags: PushFlags): Promise<void> {
  checkFlags(flags);
  if (flags.undo) return operate(flags, (operator, steps) => takeBackImage(operator, steps, flags));
  if (path === undefined) throw new UsageError("the image's FILE is needed");
  const bytes = load(path);
  await operate(flags, async (operator, steps) => {
    if (flags.stages) return byStages(operator, steps, { path, bytes, flags });
    const whom = flags.device === undefined ? await profile(operator, flags) : await device(operator, flags);
    const [upload, assignment] = [`upload of ${flags.title} ${flags.version}`, `assignment to ${whom.named}`];
    steps.plan(upload, assignment, ...(flags.wait ? whom.devices.map(updateOf) : []));
    const target = await steps.run(upload, () => uploaded(operator, whom.profileId, { path, bytes, flags }));
    const watches = whom.devices.map((one) => new UpdateWatch(operator, one, flags));
    if (flags.wait) await eachOf(watches, AT_A_TIME, (watch) => watch.begin());
    await steps.run(assignment, () => whom.assign(target.id.id));
    note(`Assigned to ${whom.named}.`);
    if (flags.wait) await follow(watches, flags, steps);
    else if (flags.json) outJson({ packageId: target.id.id });
  });
}

function checkFlags({ device, profile, stages, undo, wait, soak, timeout, ...flags }: PushFlags): void {
  if (device === undefined && profile === undefined)
    throw new UsageError("--device NAME or --profile NAME is needed: whom is it for?");
  if (undo && profile === undefined)
    throw new UsageError("--undo takes a rollout back: --profile NAME is needed");
  if (!stages) {
    const { stopAt, leaveOffline, replace } = flags;
    for (const [name, value] of Object.entries({
      "stop-at": stopAt,
      soak,
      "leave-offline": leaveOffline,
      replace,
    }))
      if (value !== undefined) throw new UsageError(`--${name} is for --stages`);
    return;
  }
  if (!wait)
    throw new UsageError("--stages goes on only when a stage is good: it can't be had with --no-wait");
  if ((soak ?? SOAK_MS) >= timeout)
    throw new UsageError("--timeout is for a stage with its --soak, and so the longer of them");
}

async function byStages(
  operator: Operator,
  steps: Steps,
  image: { path: string; bytes: Uint8Array; flags: PushFlags },
): Promise<void> {
  const { flags } = image;
  const found = await findProfile(operator, flags.profile ?? "");
  const upload = `upload of ${flags.title} ${flags.version}`;
  steps.plan(upload);
  const { id } = await steps.run(upload, () => uploaded(operator, found.id.id, image));
  const target = { packageId: id.id, title: flags.title, version: flags.version };
  const { stages = [], stopAt = 1, soak = SOAK_MS, ...more } = flags;
  await rollOut(operator, steps, { target, profile: found, flags: { stages, stopAt, soak, ...more } });
}

async function takeBackImage(operator: Operator, steps: Steps, flags: PushFlags): Promise<void> {
  const found = await findProfile(operator, flags.profile ?? "");
  const { title, version } = flags;
  const { data } = await operator.ota.list({ textSearch: title });
  const there = data.find((one) => one.title === title && one.version === version && one.type === "FIRMWARE");
  if (!there) throw new ExitError(UNANSWERED, `there is no package ${plain(title)} ${plain(version)}`);
  const target = { packageId: there.id.id, title, version };
  await takeBack(operator, steps, { target, profile: found, flags });
}

interface Whom {
  profileId: string;
  devices: readonly Target[];
  named: string;
  assign(packageId: string): Promise<void>;
}

async function device(operator: Operator, flags: PushFlags): Promise<Whom> {
  const found = await findDevice(operator, flags.device ?? "");
  const id = found.id.id;
  return {
    profileId: found.deviceProfileId?.id ?? "",
    devices: [{ id, name: found.name }],
    named: plain(found.name),
    assign: (packageId) => operator.ota.assign(id, packageId),
  };
}

async function profile(operator: Operator, flags: PushFlags): Promise<Whom> {
  const found = await findProfile(operator, flags.profile ?? "");
  const id = found.id.id;
  const affected = (await operator.devices.ofProfile(found))
    .filter(({ firmwareId }) => !firmwareId)
    .map((one) => ({ id: one.id.id, name: one.name }));
  return {
    profileId: id,
    devices: affected,
    named: `the profile ${plain(found.name)} (${affected.length} devices without an assignment of their own)`,
    assign: (packageId) => operator.ota.assignToProfile(id, packageId),
  };
}
