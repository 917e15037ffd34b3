// `mote devices`: lists and manages devices.
import type { Command } from "commander";
import { ago } from "../../../duration.js";
import { deviceQuery, type ListedDevice, listedDevice, SORT_KEYS } from "../../../operator/device-list.js";
import type { Operator } from "../../../operator/operator.js";
import { eachPage } from "../../../operator/pages.js";
import { stateWord } from "../../../operator/update-state.js";
import { type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import { isSameText } from "../../operator/updates.js";
import { colored } from "../../output/colors.js";
import { note, out, outJson, plain, table } from "../../output/table.js";
import { count } from "../../usage.js";
import { addCommand, deleteCommand, tokenCommand } from "./change.js";
import { getCommand } from "./get.js";

interface DevicesFlags extends OperatorFlags {
  profile?: string;
  version?: string;
  limit: number;
}

const PAGE_SIZE = 100;

const HELP = `
A device is active if the platform received something from it in the last ten minutes (the default). FIRMWARE is the version that the device reports,
UPDATE the state of its last update.

Examples:
  mote devices
  mote devices greenhouse --json
  mote devices --profile pumps --version 2.0.0
  mote devices add greenhouse-8
  mote devices get greenhouse-7`;

export function devicesCommand(program: Command): void {
  const devices = program
    .command("devices")
    .description("list, add, inspect and delete devices")
    .addHelpText("after", HELP);
  operatorOptions(devices.command("list", { isDefault: true }))
    .description("list devices with their state")
    .argument("[text]", "part of the name")
    .option("--profile <name>", "only devices of this profile")
    .option("--version <version>", "only devices that report this firmware version")
    .option("--limit <number>", "maximum number of devices to list", count, PAGE_SIZE)
    .action(list);
  addCommand(devices);
  getCommand(devices);
  deleteCommand(devices);
  tokenCommand(devices);
}

const HEAD = ["NAME", "PROFILE", "FIRMWARE", "UPDATE", "STATE", "LAST SEEN"] as const;
const STATE = HEAD.indexOf("STATE");
const paint = (text: string, column: number): string =>
  column === STATE && text === "active" ? colored("green", text) : text;

function list(text: string | undefined, flags: DevicesFlags): Promise<void> {
  return operate(flags, async (operator) => {
    const { found, total } = await matching(operator, text, flags);
    if (flags.json) outJson(found.map(shown));
    else if (found.length > 0) out(table(HEAD, found.map(rowOf), { paint }));
    else if (text !== undefined) note(`No device matches "${plain(text)}" (list all: mote devices).`);
    else note("No devices (add one: mote devices add NAME).");
    if (total > found.length) note(`${total - found.length} more (show all: --limit ${total}).`);
  });
}

/** At most `limit` devices by name, and how many there are. */
async function matching(
  { entities }: Operator,
  search: string | undefined,
  { profile, version, limit }: DevicesFlags,
): Promise<{ found: ListedDevice[]; total: number }> {
  const sort = { key: SORT_KEYS.name, direction: "ASC" } as const;
  const found: ListedDevice[] = [];
  const fits = ({ firmware }: ListedDevice): boolean =>
    version === undefined || isSameText(firmware.version, version);
  const read = (page: number) =>
    entities.devices(deviceQuery({ search, profile }, { page, pageSize: PAGE_SIZE, sort }));
  let total = 0;
  for await (const { data, totalElements } of eachPage(read)) {
    found.push(...data.map(listedDevice).filter(fits));
    total = version === undefined ? totalElements : found.length;
    if (version === undefined && found.length >= limit) break;
  }
  return { found: found.slice(0, limit), total };
}

/** Times in milliseconds since 1970; `firmware` as the device reported it. */
const shown = ({ id, name, profile, isActive, lastSeen, firmware }: ListedDevice): object => ({
  ...{ id, name, profile, active: isActive, lastActivityTime: lastSeen ?? null },
  firmware: Object.fromEntries(Object.entries(firmware).map(([key, text]) => [key, text || null])),
});

function rowOf({ name, profile, isActive, lastSeen, firmware }: ListedDevice): unknown[] {
  const { title, version, state } = firmware;
  const seen = lastSeen === undefined ? "never" : ago(lastSeen);
  return [
    ...[name, profile, `${title} ${version}`.trim() || undefined],
    ...[state ? stateWord(state) : undefined, isActive ? "active" : "inactive", seen],
  ];
}
