// `mote logs`: requests that devices sent to the local platform, or the device log.
import type { Command } from "commander";
import { FAILED } from "../../exit-codes.js";
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import type { LoggedRequest } from "../../operator/shapes.js";
import { ExitError } from "../exit-error.js";
import { showDeviceLines } from "../operator/device-lines.js";
import { findDevice } from "../operator/find.js";
import { ifAnswered, operateUntilStopped, operatorOptions } from "../operator/operator.js";
import { untilUnread } from "../output/reader.js";
import { cell, clip, columnsOf, note, out, outWhileRead, tameJson } from "../output/table.js";
import { pause, stopSignals } from "../stop.js";
import { count, UsageError } from "../usage.js";

interface LogsFlags {
  url?: string;
  platform?: string;
  username?: string;
  device?: boolean;
  follow?: boolean;
  limit: number;
  json?: boolean;
}

/** Common prefix of all paths. */
const DEVICE_API = /^\/api\/v1\/(?:\*+\/)?/;

const HELP = `
Without --device: requests that devices sent to the local platform, one per line: time, device, method, path, status, duration, injected faults and start
of the body. Tokens are removed. Status 0: no answer. The local platform keeps the last 1,000 requests; the tenant can read them.

With --device: the device log, read by the RPC mote.log from any platform: uptime, level and text. The log survives restarts and crashes. Exit code 4: the
device did not answer; 5: its image has no log. Decode a backtrace with mote decode.

Examples:
  mote logs greenhouse-7
  mote logs --follow
  mote logs greenhouse-7 --device`;

/** Time between two reads. */
const INTERVAL_MS = 1_000;

export function logsCommand(program: Command): void {
  const logs = program
    .command("logs")
    .description("show requests to the local platform, or the log of a device");
  operatorOptions(logs)
    .argument("[device]", "device name; with --device also its id (default: all)")
    .option("--device", "show the device log")
    .option("-f, --follow", "keep printing new requests")
    .option("--limit <number>", "number of last lines to show", count, 20)
    .addHelpText("after", HELP)
    .action(logsOf);
}

async function logsOf(device: string | undefined, flags: LogsFlags): Promise<void> {
  if (flags.device) {
    if (device === undefined) throw new UsageError("missing device name (expected: mote logs NAME --device)");
    if (flags.follow) throw new UsageError("--follow does not work with --device");
    return showDeviceLines(device, flags);
  }
  await operateUntilStopped(flags, (operator) => showRequests(operator, device, flags));
}

async function showRequests(operator: Operator, device: string | undefined, flags: LogsFlags): Promise<void> {
  const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
  const fits = (one: LoggedRequest): boolean => device === undefined || one.device === device;
  const all = await read(operator);
  const found = all.filter(fits);
  for (const one of found.slice(-flags.limit)) out(lineOf(one, flags));
  // A typing error in the name would wait for ever.
  if (found.length === 0 && device !== undefined) await findDevice(operator, device);
  if (found.length === 0)
    note(device === undefined ? "No requests yet." : `No requests from ${cell(device)} yet.`);
  let before = all;
  while (flags.follow && !stop.aborted) {
    await pause(INTERVAL_MS, stop);
    const now = stop.aborted ? undefined : await ifAnswered(read(operator));
    if (now === undefined) continue;
    for (const one of since(before, now).filter(fits)) outWhileRead(lineOf(one, flags));
    before = now;
  }
}

/** Throws ExitError if the platform does not list requests. */
async function read(operator: Operator): Promise<LoggedRequest[]> {
  try {
    return await operator.requests();
  } catch (error) {
    if (!(error instanceof OperatorError) || error.status !== 404) throw error;
    const why = "only a local platform lists requests (device log: mote logs NAME --device)";
    throw new ExitError(FAILED, `${operator.url}: ${why}`, { cause: error });
  }
}

/** Requests after the last known one; all of them after a restart of the platform. */
function since(before: readonly LoggedRequest[], now: readonly LoggedRequest[]): LoggedRequest[] {
  const last = before.at(-1);
  if (!last) return [...now];
  const text = JSON.stringify(last);
  return now.slice(now.findLastIndex((one) => JSON.stringify(one) === text) + 1);
}

function lineOf(one: LoggedRequest, { json }: LogsFlags): string {
  if (json) return `${tameJson(one)}\n`;
  const { ts, device, method, path, status, durationMs, faults, body } = one;
  const time = new Date(ts).toTimeString().slice(0, 8);
  const end = [faults ? `[${faults.join(", ")}]` : "", body].filter((part) => part !== "").join(" ");
  const what = `${method} ${path.replace(DEVICE_API, "")}`;
  const line = `${time}  ${device ?? "?"}  ${what}  ${status}  ${Math.round(durationMs)} ms  ${end}`;
  return `${clip(cell(line.trimEnd()), columnsOf())}\n`;
}
