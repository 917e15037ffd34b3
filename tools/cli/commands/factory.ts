// `mote factory`: makes an NVS image for each device, and flashes it with the program.
import { isUtf8 } from "node:buffer";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { writeSecret } from "../../../hosts/node/files.js";
import { type FactoryDevice, readDevices } from "../../moddable/factory/device-list.js";
import { isOpen, refuseTracked } from "../../moddable/factory/keep-secret.js";
import { findNvsTool, makeNvs } from "../../moddable/factory/nvs-image.js";
import { findFirmware, nvsOf } from "../../moddable/flash/firmware.js";
import { note, out, table } from "../output/table.js";
import { interruptible } from "../stop.js";
import { readInput, UsageError } from "../usage.js";
import { baudOption, flash } from "./flash.js";

interface FactoryFlags {
  csv: string;
  out: string;
  target?: string;
  device?: string;
  port?: string;
  baud: number;
  yes?: boolean;
}

const HELP = `
The CSV file needs a header with these columns, in any order. All except name are optional; whoever sets up the device fills in empty values:
  name            device name, also the name of its file
  label           password of the setup Wi-Fi, as on the label
  url             platform URL; required with token
  token           access token, or
  key, secret     provisioning key and secret of the device profile
  ssid, password  Wi-Fi

nvs_partition_gen of ESP-IDF makes the images. Only you can read them, but they contain secrets in plain text. Requires a program with mote/commission,
built or written by mote flash --web.

Examples:
  mote factory ./page --csv devices.csv --out ./images
  mote factory ./page --csv devices.csv --out ./images --device lamp-7 --port /dev/ttyUSB0`;

export function factoryCommand(program: Command): void {
  program
    .command("factory")
    .description("make NVS images for a list of devices, and flash one")
    .argument("[folder]", "built project, or folder of mote flash --web (default: current)")
    .requiredOption("--csv <file>", "list of devices")
    .requiredOption("--out <dir>", "folder for the images; created if missing")
    .option("--device <name>", "erase the connected board and write program and NVS of this device")
    .option("--target <name>", "build to use, if there are several")
    .option("--port <device>", "serial port of the board (default: esptool finds it)")
    .addOption(baudOption())
    .addOption(new Option("--yes", "skip the confirmation prompt"))
    .addHelpText("after", HELP)
    .action(factory);
}

async function factory(folder = ".", flags: FactoryFlags): Promise<void> {
  const programs = findFirmware(folder);
  const nvs = nvsOf(programs, flags.target);
  const devices = readDevices(read(flags.csv));
  const chosen = devices.find(({ name }) => name === flags.device);
  if (flags.device !== undefined && !chosen)
    throw new UsageError(`no device "${flags.device}" in ${flags.csv}`);
  if (isOpen(flags.csv)) note(`Warning: other users can read ${flags.csv} (fix: chmod 600 ${flags.csv}).`);
  const to = resolve(flags.out);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  await refuseTracked(to);
  const made = await makeAll(chosen ? [chosen] : devices, to, nvs);
  if (!chosen) {
    show(made);
    return;
  }
  const { target, port, yes, baud } = flags;
  const more = made.map(({ offset, file }) => ({ offset, file }));
  await flash(programs, { baud, erase: true, ...defined({ target, port, yes }) }, more);
}

/** Ctrl-C leaves only complete images. */
async function makeAll(
  devices: readonly FactoryDevice[],
  folder: string,
  { offset, size }: ReturnType<typeof nvsOf>,
): Promise<Made[]> {
  const tool = await findNvsTool();
  const made: Made[] = [];
  await interruptible(async () => {
    for (const device of devices) {
      const { name } = device;
      const file = join(folder, `${name}.nvs.bin`);
      writeSecret(file, await makeNvs(tool, device, size));
      note(`Made ${name}.`);
      made.push({ name, file, offset, ...gives(device) });
    }
  });
  return made;
}

type Made = { readonly name: string; readonly file: string; readonly offset: number } & ReturnType<
  typeof gives
>;

function show(made: readonly Made[]): void {
  const rows = made.map(({ name, identity, wifi, label, file }) => [
    ...[name, identity, wifi ? "given" : undefined, label ? "given" : undefined, file],
  ]);
  out(table(["NAME", "IDENTITY", "WI-FI", "LABEL", "IMAGE"], rows));
  const [first] = made;
  if (first) note(`Flash an image with --device, or with esptool at 0x${first.offset.toString(16)}.`);
}

/** The given settings, without their values. */
function gives({ label, values: { token, key, ssid } }: FactoryDevice) {
  const identity = token !== undefined ? "token" : key !== undefined ? "provisioning" : "built in";
  return { identity, wifi: ssid !== undefined, label: label !== undefined };
}

/** Leaves out undefined options. */
function defined<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

const MOST = 10_000_000;

function read(path: string): string {
  const bytes = readInput(path, "--csv");
  if (bytes.length > MOST) throw new UsageError(`--csv ${path} is too large: expected at most ${MOST} bytes`);
  if (!isUtf8(bytes)) throw new UsageError(`cannot read --csv ${path} (not UTF-8)`);
  return bytes.toString();
}
