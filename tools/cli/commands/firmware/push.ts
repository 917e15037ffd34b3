import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { UNANSWERED } from "../../../../hosts/node/exit.js";
import { codeOf } from "../../../../hosts/node/files.js";
import type { Operator } from "../../../operator/operator.js";
import type { Algorithm, OtaPackage } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { findDevice, findProfile } from "../../operator/find.js";
import { eachOf, ifAnswered, type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import { type Target, type Update, UpdateWatch, waiting } from "../../operator/updates.js";
import { bar, Progress } from "../../output/progress.js";
import { note, outJson, plain } from "../../output/table.js";
import type { Steps } from "../../steps.js";
import { durationOption, UsageError } from "../../usage.js";

interface PushFlags extends OperatorFlags {
  title: string;
  version: string;
  algorithm: Algorithm;
  device?: string;
  profile?: string;
  wait: boolean;
  timeout: number;
}

const ALGORITHMS = ["MD5", "SHA256", "SHA384", "SHA512", "CRC32", "MURMUR3_32", "MURMUR3_128"];
const AT_A_TIME = 8;
const LOOK_MS = 1_000;

const HELP = `
Uploads the file as an OTA package (one of the same title, version and content is taken as it is), assigns it, and follows what the device, or each
device of the profile that has no assignment of its own, reports until it is UPDATED or FAILED.
Exit code 4: an update failed, or did not end within --timeout.

Examples:
  mote firmware push build/greenhouse.bin --title greenhouse --version 2.0.0 --device greenhouse-7
  mote firmware push build/greenhouse.bin --title greenhouse --version 2.0.0 --profile greenhouse --no-wait`;

export function pushCommand(firmware: Command): void {
  operatorOptions(firmware.command("push").description("upload an image, assign it, and follow the updates"))
    .argument("<file>")
    .requiredOption("--title <title>", "of the firmware, as the device's own")
    .requiredOption("--version <version>", "of the image")
    .addOption(new Option("--algorithm <name>", "of the checksum").choices(ALGORITHMS).default("SHA256"))
    .addOption(new Option("--device <name>", "to update one device").conflicts("profile"))
    .option("--profile <name>", "to update all devices of a device profile")
    .option("--no-wait", "end when it is assigned")
    .addOption(durationOption("--timeout <duration>", "how long to follow", "30m"))
    .addHelpText("after", HELP)
    .action(push);
}

async function push(path: string, flags: PushFlags): Promise<void> {
  if (flags.device === undefined && flags.profile === undefined)
    throw new UsageError("--device NAME or --profile NAME is needed: whom is it for?");
  const bytes = load(path);
  await operate(flags, async (operator, steps) => {
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

const updateOf = ({ name }: Target): string => `update of ${name}`;

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
  const { devices } = operator;
  const found = await findProfile(operator, flags.profile ?? "");
  const id = found.id.id;
  const affected: Target[] = [];
  for (let page = 0; ; page++) {
    const { data, hasNext } = await devices.list({ page });
    for (const one of data)
      if (one.deviceProfileId?.id === id && !one.firmwareId) affected.push({ id: one.id.id, name: one.name });
    if (!hasNext) break;
  }
  return {
    profileId: id,
    devices: affected,
    named: `the profile ${plain(found.name)} (${affected.length} devices without an assignment of their own)`,
    assign: (packageId) => operator.ota.assignToProfile(id, packageId),
  };
}

interface Image {
  path: string;
  bytes: Uint8Array;
  flags: PushFlags;
}

async function uploaded(
  { ota }: Operator,
  profileId: string,
  { path, bytes, flags }: Image,
): Promise<OtaPackage> {
  const { title, version, algorithm } = flags;
  const checksum = digest(algorithm, bytes);
  const { data } = await ota.list({ textSearch: title });
  const there = data.find((one) => one.title === title && one.version === version && one.type === "FIRMWARE");
  if (there?.hasData) {
    const known = there.checksumAlgorithm ?? algorithm;
    if (there.checksum?.toLowerCase() === digest(known, bytes) && there.dataSize === bytes.length) {
      note(`${plain(title)} ${plain(version)} is on the platform already.`);
      return there;
    }
    throw new ExitError(
      1,
      `the platform has another image as ${plain(title)} ${plain(version)}: give it a new version`,
    );
  }
  const entry = there ?? (await ota.create({ title, version, deviceProfileId: profileId }));
  const progress = new Progress();
  const onSent = (sent: number): void =>
    progress.show([`${bar(sent / bytes.length)}  upload`], [`upload of ${bytes.length} bytes`]);
  const upload = { fileName: basename(path), algorithm, onSent, ...(checksum !== undefined && { checksum }) };
  return ota.upload(entry.id.id, bytes, upload);
}

/** Lower-case hex; undefined for those that the platform computes. */
function digest(algorithm: Algorithm, bytes: Uint8Array): string | undefined {
  if (algorithm.startsWith("SHA") || algorithm === "MD5")
    return createHash(algorithm.toLowerCase()).update(bytes).digest("hex");
  return undefined;
}

async function follow(watches: UpdateWatch[], flags: PushFlags, steps: Steps): Promise<void> {
  const progress = new Progress();
  const deadline = Date.now() + flags.timeout;
  const updates = watches.map(({ device }) => waiting(device));
  for (const { device } of watches) steps.begin(updateOf(device));
  steps.remark = "what is assigned stays so, and the device goes on by itself: mote firmware unassign";
  for (;;) {
    await eachOf(watches, AT_A_TIME, async (watch) => {
      const at = watches.indexOf(watch);
      const known = updates[at] as Update;
      if (isOver(known)) return;
      const update = (await ifAnswered(watch.look())) ?? known;
      updates[at] = update;
      const called = update.end === "failed" ? `failed update of ${watch.device.name}` : undefined;
      if (isOver(update)) steps.end(updateOf(watch.device), called);
    });
    // Where not all fit, those that are over come last.
    const open = updates.toSorted((one, other) => Number(isOver(one)) - Number(isOver(other)));
    progress.show(open.map(drawn), updates.map(lineOf));
    if (updates.every(isOver) || Date.now() >= deadline) return conclude(updates, flags);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function isOver({ end }: Update): boolean {
  return end !== undefined;
}

function drawn(update: Update): string {
  const share = update.end === "updated" ? 1 : (update.progress ?? 0) / 100;
  return `${bar(share)}  ${lineOf(update)}`;
}

function lineOf({ device, state, error, end }: Update): string {
  const why = error === undefined || end === "updated" ? "" : `: ${plain(error)}`;
  return `${plain(device.name)}  ${plain(state)}${why}`;
}

function conclude(all: readonly Update[], flags: PushFlags): void {
  if (flags.json)
    outJson(
      all.map(({ device, state, error, end }) => ({ device: device.name, state, error, end: end ?? "open" })),
    );
  const updated = all.filter(({ end }) => end === "updated").length;
  const failed = all.filter(({ end }) => end === "failed").length;
  if (updated === all.length) {
    note(`Updated: ${updated} of ${all.length}.`);
    return;
  }
  throw new ExitError(
    UNANSWERED,
    `updated ${updated} of ${all.length}, failed ${failed}, still open ${all.length - updated - failed}`,
  );
}

function load(path: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new UsageError(`${path} can't be read (${codeOf(error)})`);
  }
  if (bytes.length === 0) throw new UsageError(`${path} is empty`);
  return bytes;
}
