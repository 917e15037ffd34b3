// Reads the device log by RPC: `mote logs NAME --device`.

import type { LogAnswer } from "../../../extras/diagnostics/index.js";
import { ANSWERED_ERROR } from "../../exit-codes.js";
import { logAnswer } from "../../operator/device-log.js";
import type { Operator } from "../../operator/operator.js";
import { ExitError } from "../exit-error.js";
import { cell, clip, columnsOf, note, outWhileRead, plain, tameJson } from "../output/table.js";
import { findDevice } from "./find.js";
import { inTime, type OperatorFlags, operateUntilStopped } from "./operator.js";

interface DeviceLinesFlags extends OperatorFlags {
  limit: number;
}

/** Shows the log. Throws ExitError 4 without an answer, 5 without a log. */
export function showDeviceLines(named: string, { limit, ...flags }: DeviceLinesFlags): Promise<void> {
  return operateUntilStopped(flags, async (operator) => {
    const { id, name } = await findDevice(operator, named);
    const { build, uptime, lines } = await ask(operator, id.id);
    for (const line of lines.slice(-limit)) outWhileRead(shown(line, flags));
    if (flags.json) return;
    const running = build === null ? "" : `, build ${cell(build)}`;
    note(`${cell(name)}: up ${Math.round(uptime)} s${running}`);
    if (lines.length === 0) note("The log is empty.");
  });
}

async function ask(operator: Operator, id: string): Promise<LogAnswer> {
  const value = await inTime(operator.rpc.twoWay(id, "mote.log", {}), "answer");
  const answer = logAnswer(value);
  if (answer) return answer;
  const { code } = ((value as { error?: unknown } | null)?.error ?? {}) as { code?: unknown };
  if (code === "METHOD_NOT_FOUND")
    throw new ExitError(ANSWERED_ERROR, "the device has no log: its image does not include mote/diagnostics");
  throw new ExitError(
    ANSWERED_ERROR,
    `invalid answer from mote.log: ${plain(tameJson(value)).slice(0, 200)}`,
  );
}

function shown([uptime, level, text]: LogAnswer["lines"][number], { json }: OperatorFlags): string {
  if (json) return `${tameJson({ uptime, level, text })}\n`;
  const line = `${uptime.toFixed(1).padStart(9)} s  ${cell(level).padEnd(5)}  ${cell(text)}`;
  return `${clip(line, columnsOf())}\n`;
}
