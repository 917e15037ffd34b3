// Serial ports of this machine: which there are, and who has one.
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import { SdkError } from "../sdk.js";

/** Of boards: bridges by USB, and the USB that some chips have themselves. */
const NAMES: Readonly<Record<string, RegExp>> = {
  linux: /^tty(?:USB|ACM)\d+$/,
  darwin: /^cu\.(?:usb|SLAB|wch)/i,
};

export interface Port {
  readonly path: string;
  /** What the system calls the device, where it says so. */
  readonly title?: string;
}

/** The ports that a board may be at. Undefined on a system where they are not looked for. */
export function listPorts(platform: string = process.platform, dev = "/dev"): Port[] | undefined {
  const pattern = NAMES[platform];
  if (!pattern) return undefined;
  const titles = titlesOf(join(dev, "serial", "by-id"));
  return readdirSync(dev)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => {
      const path = join(dev, name);
      const title = titles.get(path);
      return { path, ...(title !== undefined && { title }) };
    });
}

/** Linux: usb-Silicon_Labs_CP2102_0001-if00-port0 -> ../../ttyUSB0. */
function titlesOf(folder: string): Map<string, string> {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(
    names.map((name) => {
      const title = name.replace(/^usb-/, "").replace(/-if\d+(?:-port\d+)?$/, "");
      return [join(folder, readlinkSync(join(folder, name))), title.replaceAll("_", " ")];
    }),
  );
}

/** `given`, or the only one there is. Throws SdkError with those that there are. */
export function choosePort(given: string | undefined, ports: readonly Port[] | undefined): string {
  if (given !== undefined) return given;
  if (ports === undefined) throw new SdkError("port detection is not supported on this system: pass --port");
  const [first, second] = ports;
  if (first === undefined)
    throw new SdkError(
      "no serial port of a board found. Connect the board with a cable that has data lines. If no port appears, start its download mode: hold BOOT, press RESET, release both",
    );
  if (second !== undefined)
    throw new SdkError(`found several ports, choose one with --port:\n${ports.map(lineOf).join("\n")}`);
  return first.path;
}

const lineOf = ({ path, title }: Port): string => `  ${path}${title === undefined ? "" : `  ${title}`}`;

/** An address for esptool in place of a device: a port of another machine, or of an emulator. */
export const isAddress = (port: string): boolean => /^[a-z0-9]+:\/\//i.test(port);

/** Throws SdkError with advice if the port is missing, forbidden or in use. */
export function checkPort(port: string, ports: readonly Port[] = listPorts() ?? [], proc = "/proc"): void {
  if (isAddress(port)) return;
  if (!existsSync(port)) {
    const others = ports.length === 0 ? "found no port" : `found\n${ports.map(lineOf).join("\n")}`;
    throw new SdkError(`port ${port} does not exist: ${others}`);
  }
  try {
    accessSync(port, constants.R_OK | constants.W_OK);
  } catch {
    throw new SdkError(
      `${port}: permission denied. On Linux, run this and log in again: sudo usermod -aG dialout $USER`,
    );
  }
  const users = usersOf(port, proc);
  if (users.length > 0)
    throw new SdkError(`${port} is in use by ${users.join(", ")}. Stop it, then try again`);
}

/** The processes that have it open, as far as this user may see them: name and id. Linux alone. */
export function usersOf(port: string, proc = "/proc"): string[] {
  if (!existsSync(proc)) return [];
  const device = realpathSync(port);
  const users: string[] = [];
  for (const id of readdirSync(proc).filter((name) => /^\d+$/.test(name) && name !== `${process.pid}`))
    try {
      const open = readdirSync(join(proc, id, "fd"));
      if (open.some((fd) => linkOf(join(proc, id, "fd", fd)) === device))
        users.push(`${readFileSync(join(proc, id, "comm"), "utf8").trim()} (process ${id})`);
    } catch {
      // Another user's, or it ended.
    }
  return users;
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
