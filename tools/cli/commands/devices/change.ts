// `mote devices add, delete, token`.
import type { Command } from "commander";
import { confirm } from "../../ask.js";
import { devicesBeginning, findDevice, findProfile } from "../../operator/find.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, yesOption } from "../../operator/operator.js";
import { note, out, outJson, plain, quoted, some } from "../../output/table.js";
import { UsageError } from "../../usage.js";
import { checkHasToken } from "./credentials.js";
import { renew } from "./renew.js";

interface AddFlags extends OperatorFlags {
  profile?: string;
  label?: string;
}

interface DeleteFlags extends OperatorFlags {
  prefix?: string;
  yes?: boolean;
}

export function addCommand(devices: Command): void {
  operatorOptions(devices.command("add").description("add a device; the platform creates its access token"))
    .argument("<name>", "device name")
    .option("--profile <name>", "device profile (default: the platform's default profile)")
    .option("--label <text>", "label shown in the console")
    .action(add);
}

async function add(name: string, flags: AddFlags): Promise<void> {
  await operate(flags, async (operator) => {
    const { profile: asked, label } = flags;
    const profile = asked === undefined ? undefined : await findProfile(operator, asked);
    const wanted = {
      name,
      ...(label !== undefined && { label }),
      ...(profile && { deviceProfileId: profile.id }),
    };
    const { id } = await operator.devices.create(wanted);
    if (flags.json) return outJson({ id: id.id, name });
    note(`Added ${plain(name)} (${id.id}). Show its access token: mote devices token ${quoted(name)}`);
  });
}

export function deleteCommand(devices: Command): void {
  yesOption(
    operatorOptions(
      devices.command("delete").description("delete devices with their telemetry and attributes"),
    ),
  )
    .argument("[device...]", "names or ids")
    .option("--prefix <text>", "delete all devices whose name starts with TEXT")
    .action(remove);
}

async function remove(named: string[], flags: DeleteFlags): Promise<void> {
  if ((named.length === 0) === (flags.prefix === undefined))
    throw new UsageError("specify either device names or --prefix TEXT");
  if (flags.prefix === "") throw new UsageError("--prefix must not be empty: it would delete all devices");
  await operate(flags, async (operator) => {
    const found =
      flags.prefix === undefined
        ? await eachOf(named, (one) => findDevice(operator, one))
        : await devicesBeginning(operator, flags.prefix);
    if (found.length === 0) {
      if (flags.json) outJson({ deleted: [] });
      else note(`No device name starts with "${plain(flags.prefix ?? "")}".`);
      return;
    }
    const all = some(found.map(({ name }) => name));
    await confirm(`Delete ${all} with telemetry and attributes?`, flags.yes);
    await eachOf(found, async ({ id, name }) => {
      await operator.devices.delete(id.id);
      note(`Deleted ${plain(name)}.`);
    });
    if (flags.json) outJson({ deleted: found.map(({ id, name }) => ({ id: id.id, name })) });
  });
}

const TOKEN_HELP = `
--renew prints no token. It lets a device that lost its token provision once more, with its name and the profile's provisioning key. The device gets the
same token and keeps its history. The profile must use the strategy "check pre-provisioned devices".`;

export function tokenCommand(devices: Command): void {
  operatorOptions(devices.command("token").description("print only the access token of a device"))
    .argument("<device>", "name or id")
    .option("--renew", "let a device that lost its token provision once more")
    .addHelpText("after", TOKEN_HELP)
    .action(token);
}

async function token(named: string, flags: OperatorFlags & { renew?: boolean }): Promise<void> {
  await operate(flags, async (operator) => {
    const found = await findDevice(operator, named);
    if (flags.renew) return renew(operator, found, flags.json);
    const shown = checkHasToken(await operator.devices.credentials(found.id.id));
    if (flags.json) outJson({ token: shown });
    else out(`${plain(shown)}\n`);
  });
}
