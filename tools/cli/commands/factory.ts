// `mote factory`: what each device of a series knows before its first start, as an image of its NVS, written with the program in one go.
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { type FactoryDevice, readDevices } from "../../moddable/factory/device-list.js";
import { isOpen, refuseTracked, writeSecret } from "../../moddable/factory/keep-secret.js";
import { findNvsTool, makeNvs } from "../../moddable/factory/nvs-image.js";
import { findFirmware, nvsOf } from "../../moddable/flash/firmware.js";
import { note, out, outJson, table } from "../output/table.js";
import { interruptible, Steps } from "../steps.js";
import { UsageError } from "../usage.js";
import { baudOption, flash } from "./flash.js";

interface FactoryFlags {
  csv: string;
  out: string;
  target?: string;
  device?: string;
  port?: string;
  baud: number;
  yes?: boolean;
  json?: boolean;
}

const HELP = `
The list has a head, with these columns in any order; all but name may be missing or empty, and what is empty is left to who commissions the device:
  name      of the device, by which it provisions, and of its file
  label     the password of its own Wi-Fi, as on its label
  url       of its platform; a token needs it
  token     its access token, or
  key, secret  of the device profile by which it provisions
  ssid, password  of a Wi-Fi

Each image is made by ESP-IDF's nvs_partition_gen, can be read by its owner alone, and holds secrets as they are: docs/security.md says what protects
them on the board. Needs a program with mote/commission, built or written by mote esp32 --web.

Examples:
  mote factory ./page --csv devices.csv --out ./images
  mote factory ./page --csv devices.csv --out ./images --device lamp-7 --port /dev/ttyUSB0`;

export function factoryCommand(program: Command): void {
  program
    .command("factory")
    .description("make an NVS image for each device of a list, and flash one with its program")
    .argument(
      "[folder]",
      "as mote flash has it: its partition table says how large NVS is (default: this one)",
    )
    .requiredOption("--csv <file>", "the devices")
    .requiredOption("--out <dir>", "where the images go; made if there is none")
    .option("--device <name>", "erase the board at the port, and write program and NVS for this device")
    .option("--target <name>", "which build, where there are several")
    .option("--port <device>", "the serial port of the board (default: the only one)")
    .addOption(baudOption())
    .addOption(new Option("--yes", "erase a board that is not new without asking"))
    .option("--json", "JSON on the standard output, for programs")
    .addHelpText("after", HELP)
    .action(factory);
}

async function factory(folder = ".", flags: FactoryFlags): Promise<void> {
  const programs = findFirmware(folder);
  const nvs = nvsOf(programs, flags.target);
  const devices = readDevices(read(flags.csv));
  const chosen = devices.find(({ name }) => name === flags.device);
  if (flags.device !== undefined && !chosen)
    throw new UsageError(`--device ${flags.device}: ${flags.csv} has no such device`);
  if (isOpen(flags.csv)) note(`${flags.csv} can be read by others on this machine: chmod 600 ${flags.csv}`);
  const to = resolve(flags.out);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  await refuseTracked(to);
  const made = await makeAll(chosen ? [chosen] : devices, to, nvs);
  if (!chosen) {
    show(made, flags.json);
    return;
  }
  const { json, target, port, yes, baud } = flags;
  const more = made.map(({ offset, file }) => ({ offset, file }));
  await flash(programs, { baud, log: false, erase: true, ...defined({ json, target, port, yes }) }, more);
}

/** Ctrl-C leaves whole images, and nothing on the way. */
async function makeAll(
  devices: readonly FactoryDevice[],
  folder: string,
  { offset, size }: ReturnType<typeof nvsOf>,
): Promise<Made[]> {
  const tool = await findNvsTool();
  const steps = new Steps();
  steps.plan(...devices.map(({ name }) => name));
  const made: Made[] = [];
  await interruptible(steps, async () => {
    for (const device of devices) {
      const { name } = device;
      const file = join(folder, `${name}.nvs.bin`);
      await steps.run(name, async () => writeSecret(file, await makeNvs(tool, device, size)));
      made.push({ name, file, offset, ...gives(device) });
    }
  });
  return made;
}

type Made = { readonly name: string; readonly file: string; readonly offset: number } & ReturnType<
  typeof gives
>;

function show(made: readonly Made[], json: boolean | undefined): void {
  if (json) {
    outJson(made);
    return;
  }
  const rows = made.map(({ name, identity, wifi, label, file }) => [
    ...[name, identity, wifi ? "given" : undefined, label ? "given" : undefined, file],
  ]);
  out(table(["NAME", "IDENTITY", "WI-FI", "LABEL", "IMAGE"], rows));
  const [first] = made;
  if (first)
    note(
      `esptool writes one of them at 0x${first.offset.toString(16)}; --device flashes it with the program`,
    );
}

/** What it has, without saying what it is. */
function gives({ label, values: { token, key, ssid } }: FactoryDevice) {
  const identity = token !== undefined ? "token" : key !== undefined ? "provisioning" : "built in";
  return { identity, wifi: ssid !== undefined, label: label !== undefined };
}

/** Options that were not given are left out. */
function defined<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

const MOST = 10_000_000;

function read(path: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MOST) throw new UsageError(`--csv ${path} is larger than ${MOST} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--csv ${path} can't be read (${error instanceof TypeError ? "it is no UTF-8" : codeOf(error)})`,
    );
  }
}
