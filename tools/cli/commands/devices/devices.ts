// `mote devices`: lists and manages devices.
import type { Command } from "commander";
import { ago } from "../../../duration.js";
import type { Operator } from "../../../operator/operator.js";
import type { DeviceInfo } from "../../../operator/shapes.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, wideOption } from "../../operator/operator.js";
import { colored } from "../../output/colors.js";
import { note, out, outJson, plain, table } from "../../output/table.js";
import { count } from "../../usage.js";
import { addCommand, deleteCommand, tokenCommand } from "./change.js";
import { getCommand } from "./get.js";

interface DevicesFlags extends OperatorFlags {
  limit: number;
  wide?: boolean;
}

const PAGE = 100;

const HELP = `
A device is active if the platform received something from it in the last ten minutes (the default).

Examples:
  mote devices
  mote devices greenhouse --json
  mote devices add greenhouse-8
  mote devices get greenhouse-7`;

/** A listed device; times in milliseconds since 1970. */
interface Shown {
  id: string;
  name: string;
  profile: string | null;
  active: boolean | null;
  lastActivityTime: number | null;
}

export function devicesCommand(program: Command): void {
  const devices = program
    .command("devices")
    .description("list, add, inspect and delete devices")
    .addHelpText("after", HELP);
  wideOption(operatorOptions(devices.command("list", { isDefault: true })))
    .description("list devices with their state")
    .argument("[text]", "part of the name")
    .option("--limit <number>", "maximum number of devices to list", count, PAGE)
    .action(list);
  addCommand(devices);
  getCommand(devices);
  deleteCommand(devices);
  tokenCommand(devices);
}

const HEAD = ["NAME", "PROFILE", "STATE", "LAST SEEN"] as const;
const STATE = HEAD.indexOf("STATE");
const paint = (text: string, column: number): string =>
  column === STATE && text === "active" ? colored("green", text) : text;

function list(text: string | undefined, flags: DevicesFlags): Promise<void> {
  return operate(flags, async (operator) => {
    const { found, total } = await page(operator, text, flags.limit);
    const shown = await eachOf(found, (device) => show(operator, device));
    if (flags.json) outJson(shown);
    else if (shown.length > 0) out(table(HEAD, shown.map(rowOf), { wide: flags.wide, paint }));
    else if (text !== undefined) note(`No device matches "${plain(text)}" (list all: mote devices).`);
    else note("No devices (add one: mote devices add NAME).");
    if (total > found.length) note(`${total - found.length} more (show all: --limit ${total}).`);
  });
}

async function page(
  { devices }: Operator,
  textSearch: string | undefined,
  limit: number,
): Promise<{ found: DeviceInfo[]; total: number }> {
  const found: DeviceInfo[] = [];
  for (let page = 0; ; page++) {
    const query = { page, pageSize: PAGE, ...(textSearch !== undefined && { textSearch }) };
    const { data, hasNext, totalElements } = await devices.infos(query);
    found.push(...data);
    if (!hasNext || found.length >= limit) return { found: found.slice(0, limit), total: totalElements };
  }
}

async function show({ attributes }: Operator, device: DeviceInfo): Promise<Shown> {
  const id = device.id.id;
  const { lastActivityTime } = await attributes.get(id, "SERVER_SCOPE", ["lastActivityTime"]);
  return {
    id,
    name: device.name,
    profile: device.deviceProfileName ?? device.type ?? null,
    active: device.active ?? null,
    lastActivityTime: typeof lastActivityTime === "number" ? lastActivityTime : null,
  };
}

function rowOf({ name, profile, active, lastActivityTime }: Shown): unknown[] {
  const seen = lastActivityTime === null ? "never" : ago(lastActivityTime);
  return [name, profile, active === null ? undefined : active ? "active" : "inactive", seen];
}
