import type { Command } from "commander";
import type { Operator } from "../../operator/operator.js";
import type { Reading, Scope } from "../../operator/shapes.js";
import { findDevice } from "../operator/find.js";
import {
  ifAnswered,
  type OperatorFlags,
  operateUntilStopped,
  operatorOptions,
} from "../operator/operator.js";
import { untilUnread } from "../output/reader.js";
import { cell, moment, note, outWhileRead, tameJson } from "../output/table.js";
import { pause, stopSignals } from "../stop.js";
import { durationOption } from "../usage.js";

interface WatchFlags extends OperatorFlags {
  interval: number;
}

const HELP = `
One line for each change: time, what it is, key, value. With --json an object a line. Asked for over REST, every --interval; of a key that
changed more often in between, the last value is shown. Ctrl-C ends it, and so does the first change that nobody reads
any more (mote watch NAME | head -3). While the platform is away it goes on asking.

Example:
  mote watch greenhouse-7`;

/** `{"ts":1700000000000,"kind":"telemetry","key":"temperature","value":21.5}` */
interface Change {
  ts: number;
  kind: "telemetry" | "client" | "shared" | "server";
  key: string;
  value: unknown;
}

const SCOPES: readonly [Change["kind"], Scope][] = [
  ["client", "CLIENT_SCOPE"],
  ["shared", "SHARED_SCOPE"],
  ["server", "SERVER_SCOPE"],
];
/** It changes with every request. */
const RESTLESS = "lastActivityTime";

export function watchCommand(program: Command): void {
  operatorOptions(
    program.command("watch").description("follow a device: telemetry and attributes as they change"),
  )
    .argument("<device>", "name or id")
    .addOption(durationOption("--interval <duration>", "between two looks", "2s"))
    .addHelpText("after", HELP)
    .action((named: string, flags: WatchFlags) =>
      operateUntilStopped(flags, async (operator) => {
        const { id, name } = await findDevice(operator, named);
        const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
        if (!flags.json) note(`Watching ${cell(name)}. Ctrl-C ends it.`);
        await follow(new Watch(operator, id.id), flags, stop);
      }),
    );
}

async function follow(watch: Watch, flags: WatchFlags, stop: AbortSignal): Promise<void> {
  let away = false;
  while (!stop.aborted) {
    const changes = await ifAnswered(watch.look());
    if (stop.aborted) return;
    if (away !== (changes === undefined))
      note(away ? "The platform answers again." : "No answer; trying on.");
    away = changes === undefined;
    for (const change of changes ?? []) outWhileRead(lineOf(change, flags.json === true));
    await pause(flags.interval, stop);
  }
}

/** Compares what there is with what there was. */
export class Watch {
  readonly #operator: Operator;
  readonly #id: string;
  readonly #seen = new Map<string, string>();

  constructor(operator: Operator, id: string) {
    this.#operator = operator;
    this.#id = id;
  }

  /** What changed since the last look, the oldest first; all there is at the first. */
  async look(): Promise<Change[]> {
    const { timeSeries, attributes } = this.#operator;
    const readings = await timeSeries.latest(this.#id);
    const changes = Object.entries(readings).flatMap(([key, reading]) => this.#telemetry(key, reading));
    for (const [kind, scope] of SCOPES) {
      for (const [key, value] of Object.entries(await attributes.get(this.#id, scope))) {
        if (key === RESTLESS || !this.#isNew(`${kind} ${key}`, value)) continue;
        changes.push({ ts: Date.now(), kind, key, value });
      }
    }
    return changes.sort((one, other) => one.ts - other.ts);
  }

  #telemetry(key: string, { ts, value }: Reading): Change[] {
    return this.#isNew(`telemetry ${key}`, [ts, value]) ? [{ ts, kind: "telemetry", key, value }] : [];
  }

  #isNew(what: string, value: unknown): boolean {
    const text = JSON.stringify(value);
    if (this.#seen.get(what) === text) return false;
    this.#seen.set(what, text);
    return true;
  }
}

function lineOf(change: Change, json: boolean): string {
  if (json) return `${tameJson(change)}\n`;
  const { ts, kind, key, value } = change;
  return `${moment(ts)}  ${kind.padEnd(9)}  ${cell(key)} = ${cell(value)}\n`;
}
