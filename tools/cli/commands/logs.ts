// `mote logs`: what devices asked of the local platform, and what they got; or the lines that a device keeps itself.
import type { Command } from "commander";
import { Option } from "commander";
import { FAILED } from "../../../hosts/node/exit.js";
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import type { LoggedRequest } from "../../operator/shapes.js";
import { ExitError } from "../exit-error.js";
import { LEVELS, showDeviceLines } from "../operator/device-lines.js";
import { ifAnswered, operateUntilStopped, operatorOptions, wideOption } from "../operator/operator.js";
import { untilUnread } from "../output/reader.js";
import { cell, clip, columnsOf, note, out, outWhileRead, tameJson } from "../output/table.js";
import { pause, stopSignals } from "../stop.js";
import { count, durationOption, UsageError } from "../usage.js";

interface LogsFlags {
  url?: string;
  platform?: string;
  username?: string;
  device?: boolean;
  level?: string;
  follow?: boolean;
  interval?: number;
  limit: number;
  wide?: boolean;
  json?: boolean;
}

/** What all of them have in common. */
const DEVICE_API = /^\/api\/v1\/(?:\*+\/)?/;

const HELP = `
One line for each request: time, device, method, path, status, how long it took, what the switchboard of faults did, the body's beginning. Tokens are
left out. Status 0: there was no answer. With --json an object a line. Only the local platform keeps them, the last 1,000, and shows them to the
tenant's login.

With --device the device itself is asked, by the RPC mote.log, for the lines that it keeps over a restart and a crash: uptime, level, text. The local platform
is not needed. Exit code 4: it did not answer; 5: its image keeps no lines. The shared attribute moteLogLevel (debug, info, warn, error) has it keep
more, or less, for an hour. A line with a backtrace: mote decode.

Examples:
  mote logs greenhouse-7
  mote logs --follow
  mote logs greenhouse-7 --device --level warn
  mote logs greenhouse-7 --device --follow`;

/** Between two looks, by default: at the local platform, and at a device, which pays for each. */
const INTERVAL_MS = 1_000;
const DEVICE_INTERVAL_MS = 5_000;

export function logsCommand(program: Command): void {
  const logs = program
    .command("logs")
    .description("show what devices asked of the local platform, or what a device keeps of its own lines");
  operatorOptions(wideOption(logs))
    .argument("[device]", "its name; with --device name or id (default: all)")
    .option("--device", "the lines that the device itself keeps")
    .addOption(new Option("--level <level>", "with --device: of this level and above").choices(LEVELS))
    .option("-f, --follow", "go on with those that come")
    .addOption(
      durationOption(
        "--interval <duration>",
        "between two looks, with --follow (default: 1s; with --device 5s)",
      ),
    )
    .option("--limit <number>", "of those that there are, the last", count, 20)
    .addHelpText("after", HELP)
    .action(logsOf);
}

async function logsOf(device: string | undefined, flags: LogsFlags): Promise<void> {
  const { interval = flags.device ? DEVICE_INTERVAL_MS : INTERVAL_MS } = flags;
  if (flags.device) {
    if (device === undefined) throw new UsageError("--device needs a name: mote logs greenhouse-7 --device");
    return showDeviceLines(device, { ...flags, intervalMs: interval });
  }
  if (flags.level !== undefined) throw new UsageError("--level is for --device");
  await operateUntilStopped(flags, (operator) => showRequests(operator, device, { ...flags, interval }));
}

async function showRequests(
  operator: Operator,
  device: string | undefined,
  flags: LogsFlags & { interval: number },
): Promise<void> {
  const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
  const fits = (one: LoggedRequest): boolean => device === undefined || one.device === device;
  const all = await read(operator);
  const found = all.filter(fits);
  for (const one of found.slice(-flags.limit)) out(lineOf(one, flags));
  if (found.length === 0)
    note(device === undefined ? "No device asked anything yet." : `Nothing from ${cell(device)} yet.`);
  let before = all;
  while (flags.follow && !stop.aborted) {
    await pause(flags.interval, stop);
    const now = stop.aborted ? undefined : await ifAnswered(read(operator));
    if (now === undefined) continue;
    for (const one of since(before, now).filter(fits)) outWhileRead(lineOf(one, flags));
    before = now;
  }
}

/** Throws ExitError for a platform that keeps no such list. */
async function read(operator: Operator): Promise<LoggedRequest[]> {
  try {
    return await operator.requests();
  } catch (error) {
    if (!(error instanceof OperatorError) || error.status !== 404) throw error;
    const why = "only a local platform lists the requests of devices";
    throw new ExitError(FAILED, `${operator.url}: ${why}`, { cause: error });
  }
}

/** What came after the last that was there before; all of it where the platform was restarted. */
function since(before: readonly LoggedRequest[], now: readonly LoggedRequest[]): LoggedRequest[] {
  const last = before.at(-1);
  if (!last) return [...now];
  const text = JSON.stringify(last);
  return now.slice(now.findLastIndex((one) => JSON.stringify(one) === text) + 1);
}

function lineOf(one: LoggedRequest, { json, wide }: LogsFlags): string {
  if (json) return `${tameJson(one)}\n`;
  const { ts, device, method, path, status, durationMs, faults, body } = one;
  const time = new Date(ts).toTimeString().slice(0, 8);
  const end = [faults ? `[${faults.join(", ")}]` : "", body].filter((part) => part !== "").join(" ");
  const what = `${method} ${path.replace(DEVICE_API, "")}`;
  const line = `${time}  ${device ?? "?"}  ${what}  ${status}  ${Math.round(durationMs)} ms  ${end}`;
  return `${clip(cell(line.trimEnd()), wide ? Number.POSITIVE_INFINITY : columnsOf())}\n`;
}
