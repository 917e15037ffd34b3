import { type Command, Option } from "commander";
import { UNANSWERED } from "../../../exit-codes.js";
import type { Operator } from "../../../operator/operator.js";
import { ExitError } from "../../exit-error.js";
import { checkTarget, findDevice, findProfile } from "../../operator/find.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, yesOption } from "../../operator/operator.js";
import { type Target, UpdateWatch } from "../../operator/updates.js";
import { note, outJson, plain, some } from "../../output/table.js";
import { parseStages, type Stage } from "../../rollout/stages.js";
import { count, durationOption, UsageError } from "../../usage.js";
import { follow } from "./follow.js";
import { refuseOther, rollOut, takeBack } from "./stages.js";
import { knownPackage, load, uploaded } from "./upload.js";

interface PushFlags extends OperatorFlags {
  title: string;
  version: string;
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

/** Default soak time of a stage. */
const SOAK_MS = 600_000;

const HELP = `
Uploads the file as an OTA package, assigns it, and follows the updates. An identical package is reused. --profile updates the devices of the profile that
have no assignment of their own. Exit code 4: an update failed, or did not finish within --timeout.

--stages updates a profile in stages: 1,10%,100% is one device, then a tenth, then the rest. The SHA-256 of its name puts a device into a stage. The next
stage starts when every device of the current stage is updated and was online for --soak. The first device that fails or rolls back stops the rollout with
exit code 4. Run the same command again, on any machine, to continue. --undo assigns each device its previous firmware. Devices with an assignment of
their own, of another firmware title, or that join meanwhile are left out and listed.

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
    .argument("[file]", "firmware image; not needed with --undo")
    .requiredOption("--title <title>", "firmware title, as on the device")
    .requiredOption("--version <version>", "version of the image")
    .addOption(new Option("--device <name>", "update one device").conflicts("profile"))
    .option("--profile <name>", "update the devices of a device profile")
    .option("--no-wait", "do not follow the updates")
    .addOption(
      durationOption("--timeout <duration>", "maximum time to follow; with --stages per stage", "30m"),
    )
    .addOption(
      new Option("--stages <list>", "update a profile in stages, for example 1,10%,100%")
        .argParser(parseStages)
        .conflicts(["device", "undo"]),
    )
    .addOption(
      new Option(
        "--stop-at <count>",
        "number of failed devices that stops the rollout (default: 1)",
      ).argParser(count),
    )
    .addOption(durationOption("--soak <duration>", "time that each device must stay online (default: 10m)"))
    .option(
      "--leave-offline",
      "ignore devices that are offline after --timeout: 10 minutes without a request",
    )
    .option("--replace", "replace another unfinished rollout")
    .option("--undo", "assign each device of a profile its firmware from before --stages")
    .addHelpText("after", HELP)
    .action(push);
}

async function push(path: string | undefined, flags: PushFlags): Promise<void> {
  checkFlags(flags);
  if (flags.undo) return operate(flags, (operator) => takeBackImage(operator, flags));
  if (path === undefined) throw new UsageError("missing FILE (the firmware image)");
  const bytes = load(path);
  await operate(flags, async (operator) => {
    if (flags.stages) return byStages(operator, { path, bytes, flags });
    const assignees =
      flags.device === undefined ? await profile(operator, flags) : await device(operator, flags);
    const image = { path, bytes, flags };
    const known = await knownPackage(operator, assignees.profileId, image);
    const target = await uploaded(operator, assignees.profileId, image, known);
    const wanted = { title: flags.title, version: flags.version, checksum: target.checksum };
    const watches = assignees.devices.map((one) => new UpdateWatch(operator, one, wanted));
    if (flags.wait) await eachOf(watches, (watch) => watch.begin());
    const others = watches.flatMap(({ device: { name }, otherTitle }) =>
      otherTitle === undefined ? [] : `${name} (${otherTitle})`,
    );
    if (others.length > 0)
      note(`Devices that run another firmware title, and may refuse this image: ${some(others)}.`);
    await assignees.assign(target.id.id);
    note(`Assigned to ${assignees.named}.`);
    if (flags.wait) await follow(watches, flags);
    else if (flags.json) outJson({ packageId: target.id.id });
  });
}

function checkFlags(flags: PushFlags): void {
  checkTarget(flags);
  const { profile, stages, undo, wait, soak, timeout } = flags;
  if (undo && profile === undefined) throw new UsageError("--undo requires --profile NAME");
  if (!stages) {
    const { stopAt, leaveOffline, replace } = flags;
    for (const [name, value] of Object.entries({
      "stop-at": stopAt,
      soak,
      "leave-offline": leaveOffline,
      replace,
    }))
      if (value !== undefined) throw new UsageError(`--${name} requires --stages`);
    return;
  }
  if (!wait)
    throw new UsageError("--stages cannot be combined with --no-wait: each stage waits for its devices");
  if ((soak ?? SOAK_MS) >= timeout) throw new UsageError("--timeout must exceed --soak");
}

async function byStages(
  operator: Operator,
  image: { path: string; bytes: Uint8Array; flags: PushFlags },
): Promise<void> {
  const { flags } = image;
  const found = await findProfile(operator, flags.profile ?? "");
  const known = await knownPackage(operator, found.id.id, image);
  // A refusal comes before the upload, and leaves nothing.
  if (!flags.replace) await refuseOther(operator, found, known?.id.id ?? "");
  const { id, checksum } = await uploaded(operator, found.id.id, image, known);
  const target = { packageId: id.id, title: flags.title, version: flags.version, checksum };
  const { stages = [], stopAt = 1, soak = SOAK_MS, ...more } = flags;
  await rollOut(operator, { target, profile: found, flags: { stages, stopAt, soak, ...more } });
}

async function takeBackImage(operator: Operator, flags: PushFlags): Promise<void> {
  const found = await findProfile(operator, flags.profile ?? "");
  const { title, version } = flags;
  const there = await operator.ota.find(title, version);
  if (!there)
    throw new ExitError(
      UNANSWERED,
      `no package "${plain(title)} ${plain(version)}" (list all: mote firmware list)`,
    );
  const target = { packageId: there.id.id, title, version, checksum: there.checksum };
  await takeBack(operator, { target, profile: found, flags });
}

interface Assignees {
  profileId: string;
  devices: readonly Target[];
  named: string;
  assign(packageId: string): Promise<void>;
}

async function device(operator: Operator, flags: PushFlags): Promise<Assignees> {
  const found = await findDevice(operator, flags.device ?? "");
  const id = found.id.id;
  return {
    profileId: found.deviceProfileId?.id ?? "",
    devices: [{ id, name: found.name }],
    named: plain(found.name),
    assign: (packageId) => operator.ota.assign(id, packageId),
  };
}

async function profile(operator: Operator, flags: PushFlags): Promise<Assignees> {
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
