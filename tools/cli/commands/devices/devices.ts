// `mote devices`: the list; and what is done with one.
import type { Command } from "commander";
import { UNANSWERED } from "../../../../hosts/node/exit.js";
import type { Operator } from "../../../operator/operator.js";
import type { DeviceInfo } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, wideOption } from "../../operator/operator.js";
import { ago, note, out, outJson, plain, table } from "../../output/table.js";
import { count } from "../../usage.js";
import { addCommand, deleteCommand, tokenCommand } from "./change.js";
import { showCommand } from "./show.js";

interface DevicesFlags extends OperatorFlags {
  limit: number;
  wide?: boolean;
}

const PAGE = 100;
const AT_A_TIME = 8;

const HELP = `
A device is active if it was heard of in the last ten minutes (the platform's default). Exit code 4: no device's name holds the text.

Examples:
  mote devices
  mote devices greenhouse --json
  mote devices add greenhouse-8
  mote devices show greenhouse-7`;

/** What is shown of a device; times in milliseconds since 1970. */
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
    .description("list devices with their state, and add, show and delete them")
    .argument("[text]", "only those whose name holds it")
    .option("--limit <number>", "of devices shown", count, PAGE)
    .addHelpText("after", HELP)
    .action((text: string | undefined, flags: DevicesFlags) => list(text, flags));
  wideOption(operatorOptions(devices));
  addCommand(devices);
  showCommand(devices);
  deleteCommand(devices);
  tokenCommand(devices);
}

function list(text: string | undefined, flags: DevicesFlags): Promise<void> {
  return operate(flags, async (operator) => {
    const { found, total } = await page(operator, text, flags.limit);
    const shown = await eachOf(found, AT_A_TIME, (device) => show(operator, device));
    if (flags.json) outJson(shown);
    else if (shown.length > 0) out(table(["NAME", "PROFILE", "STATE", "LAST SEEN"], shown.map(rowOf), flags));
    if (total > found.length) note(`${total - found.length} more: --limit ${total} shows all`);
    if (shown.length > 0) return;
    if (text !== undefined) throw new ExitError(UNANSWERED, `no device's name holds "${plain(text)}"`);
    note("There is no device yet: mote devices add NAME, or mote run with a provisioning key");
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
  const seen = lastActivityTime === null ? "never" : `${ago(Date.now() - lastActivityTime)} ago`;
  return [name, profile, active === null ? undefined : active ? "active" : "inactive", seen];
}
