// `mote devices get`: shows one device, without its token.
import type { Command } from "commander";
import { ago } from "../../../duration.js";
import { unlessMissing } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import type { Device, EntityId } from "../../../operator/shapes.js";
import { stateWord } from "../../../operator/update-state.js";
import { findDevice } from "../../operator/find.js";
import { type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import { moment, out, outJson, table } from "../../output/table.js";

/**
 * Times in milliseconds since 1970. `wanted`: assigned to the device; `profile`: assigned to its
 * profile; `running`: reported.
 */
interface ShownDevice {
  id: string;
  name: string;
  label: string | null;
  profile: string | null;
  createdTime: number | null;
  active: boolean | null;
  lastActivityTime: number | null;
  firmware: {
    wanted: Version | null;
    profile: Version | null;
    running: Version | null;
    state: string | null;
    error: string | null;
  };
}

interface Version {
  title: string;
  version: string;
}

const NIL = "-";
const HIDDEN = "a package that this login cannot read";

export function getCommand(devices: Command): void {
  operatorOptions(devices.command("get"))
    .description("show a device: identity, state and firmware")
    .argument("<device>", "name or id")
    .action((named: string, flags: OperatorFlags) =>
      operate(flags, async (operator) => {
        const device = await findDevice(operator, named);
        const shown = await look(operator, device);
        if (flags.json) outJson(shown);
        else out(table(["DEVICE", shown.name], rowsOf(shown, device), { columns: Number.POSITIVE_INFINITY }));
      }),
    );
}

async function look(operator: Operator, device: Device): Promise<ShownDevice> {
  const id = device.id.id;
  const { active, lastActivityTime } = await operator.attributes.get(id, "SERVER_SCOPE");
  const keys = ["current_fw_title", "current_fw_version", "fw_state", "fw_error"];
  const reported = await operator.timeSeries.latest(id, keys);
  const text = (key: string): string | null => {
    const value = reported[key]?.value;
    return value === undefined || value === "" ? null : String(value);
  };
  const [title, version] = [text("current_fw_title"), text("current_fw_version")];
  // Customer users can read neither packages nor profiles.
  const ifAllowed = <T>(call: Promise<T>): Promise<T | undefined> =>
    unlessMissing(call, ({ status }) => status === 403);
  const packageOf = async (entity: { firmwareId?: EntityId | null } | undefined): Promise<Version | null> => {
    const found = entity?.firmwareId ? await ifAllowed(operator.ota.get(entity.firmwareId.id)) : undefined;
    return found ? { title: found.title, version: found.version } : null;
  };
  const profile = await ifAllowed(operator.profiles.get(device.deviceProfileId?.id ?? ""));
  return {
    id,
    name: device.name,
    label: typeof device.label === "string" && device.label !== "" ? device.label : null,
    profile: (await operator.devices.info(id)).deviceProfileName ?? null,
    createdTime: device.createdTime ?? null,
    active: typeof active === "boolean" ? active : null,
    lastActivityTime: typeof lastActivityTime === "number" ? lastActivityTime : null,
    firmware: {
      wanted: await packageOf(device),
      profile: await packageOf(profile),
      running: title !== null && version !== null ? { title, version } : null,
      state: text("fw_state"),
      error: text("fw_error"),
    },
  };
}

function rowsOf(shown: ShownDevice, device: Device): [string, string][] {
  const { firmware, lastActivityTime, active } = shown;
  const named = (version: Version | null): string => (version ? `${version.title} ${version.version}` : NIL);
  return [
    ["id", shown.id],
    ["label", shown.label ?? NIL],
    ["profile", shown.profile ?? NIL],
    ["created", moment(shown.createdTime)],
    ["state", active === null ? NIL : active ? "active" : "inactive"],
    ["last seen", lastActivityTime === null ? "never" : ago(lastActivityTime)],
    [
      "firmware assigned",
      firmware.wanted ? named(firmware.wanted) : device.firmwareId ? HIDDEN : "none of its own",
    ],
    ["firmware of the profile", named(firmware.profile)],
    ["firmware running", named(firmware.running)],
    ["last update", updateOf(firmware)],
  ];
}

function updateOf({ state, error }: ShownDevice["firmware"]): string {
  if (state === null) return NIL;
  return stateWord(state, error) + (state === "FAILED" && error !== null ? `: ${error}` : "");
}
