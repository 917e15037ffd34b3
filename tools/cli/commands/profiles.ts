// `mote profiles`: lists device profiles.

import type { Command } from "commander";
import type { Operator } from "../../operator/operator.js";
import { allPages } from "../../operator/pages.js";
import type { DeviceProfile } from "../../operator/shapes.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, wideOption } from "../operator/operator.js";
import { note, out, outJson, plain, table } from "../output/table.js";

interface ProfilesFlags extends OperatorFlags {
  wide?: boolean;
}

/** `provisioning`: the platform's name of the strategy. Key and secret are not shown. */
interface ShownProfile {
  id: string;
  name: string;
  default: boolean;
  provisioning: string | null;
  firmware: { title: string; version: string } | null;
}

const STRATEGIES: Readonly<Record<string, string>> = {
  DISABLED: "none",
  ALLOW_CREATE_NEW_DEVICES: "creates devices",
  CHECK_PRE_PROVISIONED_DEVICES: "known devices",
  X509_CERTIFICATE_CHAIN: "X.509",
};

export function profilesCommand(program: Command): void {
  const profiles = program.command("profiles").description("list device profiles");
  wideOption(operatorOptions(profiles.command("list", { isDefault: true })))
    .description("list device profiles")
    .argument("[text]", "part of the name")
    .action((text: string | undefined, flags: ProfilesFlags) =>
      operate(flags, async (operator) => {
        const found = await allPages((page) => operator.profiles.list({ page, textSearch: text }));
        const shown = await eachOf(found, (one) => show(operator, one));
        if (flags.json) outJson(shown);
        else if (shown.length > 0) out(table(["NAME", "PROVISIONING", "FIRMWARE"], shown.map(rowOf), flags));
        else note(`No device profile matches "${plain(text ?? "")}".`);
      }),
    );
}

async function show({ ota }: Operator, profile: DeviceProfile): Promise<ShownProfile> {
  const firmware = profile.firmwareId ? await ota.get(profile.firmwareId.id) : undefined;
  return {
    id: profile.id.id,
    name: profile.name,
    default: profile.default === true,
    provisioning: typeof profile.provisionType === "string" ? profile.provisionType : null,
    firmware: firmware ? { title: firmware.title, version: firmware.version } : null,
  };
}

function rowOf({ name, provisioning, firmware, ...rest }: ShownProfile): unknown[] {
  const how = provisioning === null ? undefined : (STRATEGIES[provisioning] ?? provisioning);
  const version = firmware ? `${firmware.title} ${firmware.version}` : undefined;
  return [rest.default ? `${name} (default)` : name, how, version];
}
