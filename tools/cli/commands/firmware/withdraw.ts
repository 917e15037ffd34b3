// `mote firmware unassign, delete`.
import { type Command, Option } from "commander";
import { FAILED, UNANSWERED } from "../../../exit-codes.js";
import { OperatorError } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import { allPages } from "../../../operator/pages.js";
import type { EntityId, OtaPackage } from "../../../operator/shapes.js";
import { confirm } from "../../ask.js";
import { ExitError } from "../../exit-error.js";
import { checkTarget, findDevice, findProfile } from "../../operator/find.js";
import { type OperatorFlags, operate, operatorOptions, yesOption } from "../../operator/operator.js";
import { note, outJson, plain, quoted, some } from "../../output/table.js";
import { allPackages } from "./list.js";

interface UnassignFlags extends OperatorFlags {
  device?: string;
  profile?: string;
  yes?: boolean;
}

interface DeleteFlags extends OperatorFlags {
  yes?: boolean;
}

const UNASSIGN_HELP = `
The device then uses the firmware of its profile, if there is one. It keeps running its current image.`;

export function unassignCommand(firmware: Command): void {
  yesOption(
    operatorOptions(
      firmware.command("unassign").description("remove the firmware assigned to a device or profile"),
    ),
  )
    .addOption(new Option("--device <name>", "name or id").conflicts("profile"))
    .option("--profile <name>", "device profile")
    .addHelpText("after", UNASSIGN_HELP)
    .action(unassign);
}

async function unassign(flags: UnassignFlags): Promise<void> {
  checkTarget(flags);
  await operate(flags, async (operator) => {
    const target = await assignedTo(operator, flags);
    if (!target.packageId) {
      if (flags.json) outJson({ unassigned: null });
      else note(`No firmware is assigned to ${target.named}.`);
      return;
    }
    await confirm(`Unassign the firmware of ${target.named}?`, flags.yes);
    await target.unassign();
    if (flags.json) outJson({ unassigned: target.packageId });
    else note(`Unassigned the firmware of ${target.named}.`);
  });
}

interface Assignee {
  named: string;
  packageId: string | undefined;
  unassign(): Promise<void>;
}

async function assignedTo(operator: Operator, { device, profile = "" }: UnassignFlags): Promise<Assignee> {
  const { ota } = operator;
  if (device === undefined) {
    const { id, name, firmwareId } = await findProfile(operator, profile);
    const unassign = () => ota.assignToProfile(id.id, undefined);
    return { named: `the profile ${plain(name)}`, packageId: firmwareId?.id, unassign };
  }
  const { id, name, firmwareId } = await findDevice(operator, device);
  return { named: plain(name), packageId: firmwareId?.id, unassign: () => ota.assign(id.id, undefined) };
}

export function deleteCommand(firmware: Command): void {
  yesOption(
    operatorOptions(firmware.command("delete").description("delete a firmware package that is not assigned")),
  )
    .argument("<title>", "title, or the id without a version")
    .argument("[version]", "version")
    .action(remove);
}

async function remove(title: string, version: string | undefined, flags: DeleteFlags): Promise<void> {
  await operate(flags, async (operator) => {
    const found = await findPackage(operator, title, version);
    const named = `${plain(found.title)} ${plain(found.version)}`;
    await confirm(`Delete the package ${named}?`, flags.yes);
    await withUsers(operator, found, operator.ota.delete(found.id.id));
    if (flags.json) outJson({ deleted: { id: found.id.id, title: found.title, version: found.version } });
    else note(`Deleted ${named}.`);
  });
}

/** Says what still has the package, if the platform refuses to delete it. */
async function withUsers(operator: Operator, { id }: OtaPackage, deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof OperatorError) || error.status !== 400) throw error;
    const { devices, profiles } = operator;
    const uses = ({ firmwareId }: { firmwareId?: EntityId | null }): boolean => firmwareId?.id === id.id;
    const inUse = (await allPages((page) => profiles.list({ page }))).filter(uses);
    const on = (await allPages((page) => devices.list({ page, pageSize: 1000 }))).filter(uses);
    const users = [
      ...inUse.map(({ name }) => `--profile ${quoted(name)}`),
      ...on.map(({ name }) => `--device ${quoted(name)}`),
    ];
    if (users.length === 0) throw error;
    throw new ExitError(
      FAILED,
      `still assigned to ${some(users)} (first run mote firmware unassign for each)`,
      { cause: error },
    );
  }
}

async function findPackage(
  operator: Operator,
  title: string,
  version: string | undefined,
): Promise<OtaPackage> {
  const all = await allPackages(operator, version === undefined ? undefined : title);
  const fits = (one: OtaPackage): boolean =>
    version === undefined ? one.id.id === title : one.title === title && one.version === version;
  const found = all.find(fits);
  if (found) return found;
  const of = all.filter((one) => one.title === title).map((one) => plain(one.version));
  const there = of.length > 0 ? ` (versions: ${of.join(", ")})` : " (list all: mote firmware list)";
  throw new ExitError(UNANSWERED, `no package "${plain([title, version].join(" ").trim())}"${there}`);
}
