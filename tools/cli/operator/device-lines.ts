// Reads the device log by RPC: `mote logs NAME --device`.

import type { LogAnswer } from "../../../extras/log/index.js";
import { ANSWERED_ERROR, UNANSWERED } from "../../exit-codes.js";
import { logAnswer } from "../../operator/device-log.js";
import type { Operator } from "../../operator/operator.js";
import { ExitError } from "../exit-error.js";
import { untilUnread } from "../output/reader.js";
import { cell, clip, columnsOf, note, outWhileRead, plain, tameJson } from "../output/table.js";
import { pause, stopSignals } from "../stop.js";
import { findDevice } from "./find.js";
import { ifAnswered, inTime, type OperatorFlags, operateUntilStopped } from "./operator.js";

export const LEVELS = ["debug", "info", "warn", "error"] as const;

interface DeviceLinesFlags extends OperatorFlags {
  level?: string;
  follow?: boolean;
  intervalMs: number;
  limit: number;
}

type Line = LogAnswer["lines"][number];

/** Requested size of one answer. A device may have a lower limit. */
const BYTES = 16_384;
/** More answers than a log can have lines: stops a device that always reports more. */
const MOST = 500;

/** Shows the log; `follow` keeps reading. Throws ExitError 4 without an answer, 5 without a log. */
export function showDeviceLines(named: string, flags: DeviceLinesFlags): Promise<void> {
  return operateUntilStopped(flags, async (operator) => {
    const { id, name } = await findDevice(operator, named);
    const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
    const asking = new Asking(operator, id.id, flags.level);
    const lines = await asking.next(stop);
    show(lines.slice(-flags.limit), flags);
    if (!flags.json) noteState(cell(name), asking, lines.length);
    let away = false;
    while (flags.follow && !stop.aborted) {
      await pause(flags.intervalMs, stop);
      if (stop.aborted) return;
      const more = await ifThere(asking.next(stop));
      if (stop.aborted) return;
      if (away !== (more === undefined))
        note(away ? "The device answers again." : "No answer from the device; retrying.");
      away = more === undefined;
      if (!flags.json && asking.lost > 0)
        note(`${asking.lost} lines were overwritten before they were read.`);
      show(more ?? [], flags);
    }
  });
}

/** Reads each line of the log once. */
class Asking {
  readonly #operator: Operator;
  readonly #id: string;
  readonly #level: string | undefined;
  #since = 0;
  last: LogAnswer | undefined;
  /** Lines overwritten since the previous call. */
  lost = 0;

  constructor(operator: Operator, id: string, level: string | undefined) {
    this.#operator = operator;
    this.#id = id;
    this.#level = level;
  }

  /** All lines since the previous call; may take several RPCs. */
  async next(stop: AbortSignal): Promise<Line[]> {
    const found: Line[] = [];
    const isFirst = this.last === undefined;
    this.lost = 0;
    for (let count = 0; count < MOST && !stop.aborted; count++) {
      const before = this.last?.log;
      const answer = await this.#ask();
      this.last = answer;
      if (before !== undefined && answer.log !== before && this.#since > 0) {
        // A new log: power was lost or the memory was damaged.
        this.#since = 0;
        continue;
      }
      // Lines lost before the first read do not count.
      if (!isFirst) this.lost += answer.lost;
      found.push(...answer.lines);
      const goesOn = answer.more && answer.since > this.#since;
      this.#since = answer.since;
      if (!goesOn) break;
    }
    return found;
  }

  async #ask(): Promise<LogAnswer> {
    const level = this.#level === undefined ? {} : { level: this.#level };
    const params = { ...level, bytes: BYTES, since: this.#since };
    const value = await inTime(this.#operator.rpc.twoWay(this.#id, "mote.log", params), "answer");
    const answer = logAnswer(value);
    if (answer) return answer;
    const { code } = ((value as { error?: unknown } | null)?.error ?? {}) as { code?: unknown };
    if (code === "METHOD_NOT_FOUND")
      throw new ExitError(ANSWERED_ERROR, "the device has no log: its image does not include mote/log");
    throw new ExitError(
      ANSWERED_ERROR,
      `invalid answer from mote.log: ${plain(tameJson(value)).slice(0, 200)}`,
    );
  }
}

/** Undefined while the device or the platform is unreachable or busy. */
async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  return ifAnswered(work).catch((error) => {
    if (error instanceof ExitError && error.code === UNANSWERED) return undefined;
    throw error;
  });
}

function noteState(name: string, { last }: Asking, count: number): void {
  if (!last) return;
  const { build, uptime, level } = last;
  const parts = [`up ${Math.round(uptime)} s`, `log level ${cell(level)}`];
  if (build !== null) parts.push(`build ${cell(build)}`);
  note(`${name}: ${parts.join(", ")}`);
  if (count === 0) note("The log is empty.");
}

function show(lines: readonly Line[], { json }: DeviceLinesFlags): void {
  for (const [number, uptime, level, text] of lines) {
    if (json) outWhileRead(`${tameJson({ number, uptime, level, text })}\n`);
    else {
      const line = `${uptime.toFixed(1).padStart(9)} s  ${cell(level).padEnd(5)}  ${cell(text)}`;
      outWhileRead(`${clip(line, columnsOf())}\n`);
    }
  }
}
