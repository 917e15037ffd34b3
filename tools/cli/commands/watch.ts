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
  key?: string[];
  interval: number;
}

const HELP = `
Prints one line per change: time, kind, key and value. --json prints one object per line. Mote reads the values over REST every --interval; if a key
changes more often, it prints the last value. Ctrl-C stops; so does a closed pipe (mote watch NAME | head -3). An unreachable platform is retried.

Examples:
  mote watch greenhouse-7
  mote watch greenhouse-7 --key temperature humidity`;

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
/** Changes with every request. */
const RESTLESS = "lastActivityTime";

export function watchCommand(program: Command): void {
  operatorOptions(
    program.command("watch").description("print telemetry and attributes of a device as they change"),
  )
    .argument("<device>", "name or id")
    .option("--key <key...>", "watch only these keys")
    .addOption(durationOption("--interval <duration>", "time between two reads", "2s"))
    .addHelpText("after", HELP)
    .action((named: string, flags: WatchFlags) =>
      operateUntilStopped(flags, async (operator) => {
        const { id, name } = await findDevice(operator, named);
        const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
        if (!flags.json) note(`Watching ${cell(name)}. Press Ctrl-C to stop.`);
        await follow(new Watch(operator, id.id, flags.key), flags, stop);
      }),
    );
}

async function follow(watch: Watch, flags: WatchFlags, stop: AbortSignal): Promise<void> {
  let away = false;
  while (!stop.aborted) {
    const changes = await ifAnswered(watch.look());
    if (stop.aborted) return;
    if (away !== (changes === undefined))
      note(away ? "The platform answers again." : "No answer from the platform; retrying.");
    away = changes === undefined;
    for (const change of changes ?? []) outWhileRead(lineOf(change, flags.json === true));
    await pause(flags.interval, stop);
  }
}

/** Finds the values that changed between two reads. */
export class Watch {
  readonly #operator: Operator;
  readonly #id: string;
  readonly #seen = new Map<string, string>();

  readonly #keys: readonly string[] | undefined;

  constructor(operator: Operator, id: string, keys?: readonly string[]) {
    this.#keys = keys;
    this.#operator = operator;
    this.#id = id;
  }

  /** Changes since the last call, oldest first; the first call returns all values. */
  async look(): Promise<Change[]> {
    const { timeSeries, attributes } = this.#operator;
    const readings = await timeSeries.latest(this.#id, this.#keys);
    const changes = Object.entries(readings).flatMap(([key, reading]) => this.#telemetry(key, reading));
    for (const [kind, scope] of SCOPES) {
      for (const [key, value] of Object.entries(await attributes.get(this.#id, scope, this.#keys))) {
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
