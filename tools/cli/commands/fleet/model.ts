// `mote fleet --model`: what a server would see of so many devices, computed, with a picture of it. Nothing is sent.
import { writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { codeOf } from "../../../../hosts/node/files.js";
import { telemetrySettings } from "../../../../src/agent/options/telemetry.js";
import { parseTarget } from "../../../../src/http/target.js";
import { figuresOf, KINDS, type Load } from "../../../fleet/model/load.js";
import { type FleetConfig, modelFleet } from "../../../fleet/model/model.js";
import { sizesOf } from "../../../fleet/model/sizes.js";
import { note, out, outJson, table } from "../../output/table.js";
import { count, durationOption, UsageError } from "../../usage.js";
import { drawLoad } from "./load-chart.js";
import { outageOf } from "./outage.js";

export interface ModelFlags {
  devices: number;
  url: string;
  connections: "1" | "2" | "3";
  interval: number;
  ramp?: number;
  for?: number;
  outage?: number;
  outageAfter?: number;
  json?: boolean;
  model?: boolean;
  pollLimit?: number;
  batchAge?: number;
  pointBytes?: number;
  svg?: string;
}

const DAY_MS = 86_400_000;
const OUTAGE_MS = 600_000;
/** One way; it matters little: devices wait for their own clocks. */
const LATENCY_MS = 25;
const POLL_LIMIT_MS = 30_000;
/** What is shorter the agent takes for a platform that is busy. */
const LEAST_POLL_LIMIT_MS = 15_000;
const POINT_BYTES = 40;
const SEED = 1;
/** Polls have found their length by then. */
const SETTLED_MS = 900_000;
const BACK_S = 600;
const ONLY_MODEL = ["pollLimit", "batchAge", "pointBytes", "svg"] as const;

export const MODEL_HELP = `With --model nothing is sent: the same devices are computed for a day (--for), with an outage of 10 min in the middle of it (--outage,
--outage-after), and it prints requests, connections, bytes and points a second that their server sees. All start within --ramp, have firmware to look
after and no other shared attributes, and keep their points through the outage. Bytes are those of HTTP both ways, with https and an estimate for TLS (4500 bytes for a
device's first handshake, 700 for each later one, 29 for a record), without TCP. Ten thousand devices with a point a minute take half a minute.
`;

export function addModelOptions(command: Command): Command {
  return command
    .option("--model", "compute what the server of --url would see, and send nothing")
    .addOption(
      durationOption("--poll-limit <duration>", "with --model: when the server ends polls (default: 30s)"),
    )
    .addOption(
      durationOption("--batch-age <duration>", "with --model: how long points wait for others (default: 1s)"),
    )
    .addOption(
      new Option(
        "--point-bytes <number>",
        "with --model: of a point's values as JSON (default: 40)",
      ).argParser(count),
    )
    .option("--svg <file>", "with --model: draw it, too");
}

/** What only a model takes is a mistake without it. */
export function refuseModelOptions(flags: ModelFlags): void {
  const given = ONLY_MODEL.find((name) => flags[name] !== undefined);
  if (given !== undefined)
    throw new UsageError(`--${given.replace(/[A-Z]/, (sign) => `-${sign.toLowerCase()}`)} needs --model`);
}

export function printModel(flags: ModelFlags): void {
  const config = configOf(flags);
  const load = modelFleet(config);
  if (flags.svg !== undefined)
    save(flags.svg, drawLoad(headline(flags, config), sentence(flags, config), load));
  if (flags.json) outJson(jsonOf(config, load));
  else out(`${sentence(flags, config)}\n\n${tableOf(config, load)}`);
}

function configOf(flags: ModelFlags): FleetConfig {
  const target = parseTarget(flags.url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
  const { pollLimit: pollLimitMs = POLL_LIMIT_MS, pointBytes = POINT_BYTES } = flags;
  if (pollLimitMs < LEAST_POLL_LIMIT_MS) throw new UsageError("--poll-limit is 15s or more");
  const forMs = flags.for ?? DAY_MS;
  const { outage = Math.min(OUTAGE_MS, forMs / 4), outageAfter = Math.floor(forMs / 2) } = flags;
  const { batchAgeMs, batchPoints, batchBytes } = telemetrySettings({ batchAgeMs: flags.batchAge });
  return {
    devices: flags.devices,
    connections: Number(flags.connections) as 1 | 2 | 3,
    intervalMs: flags.interval,
    rampMs: flags.ramp ?? flags.devices * 10,
    forMs,
    seed: SEED,
    outage: outageOf({ for: forMs, outage, outageAfter }),
    latencyMs: LATENCY_MS,
    sizes: sizesOf(target.target, pointBytes),
    ...{ pollLimitMs, pointBytes, batchAgeMs, batchPoints, batchBytes },
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Seconds: before the outage, when all have started; from its end on. */
function rangesOf({ rampMs, forMs, outage }: FleetConfig): { steady: Range; back: Range } {
  const end = Math.floor(forMs / 1000);
  const cut = Math.floor((outage?.fromMs ?? forMs) / 1000);
  const back = Math.floor((outage?.toMs ?? forMs) / 1000);
  const steady = Math.min(Math.ceil((rampMs + SETTLED_MS) / 1000), Math.floor(cut / 2));
  return { steady: { from: steady, to: cut }, back: { from: back, to: Math.min(end, back + BACK_S) } };
}

function jsonOf(config: FleetConfig, load: Load): object {
  const { steady, back } = rangesOf(config);
  const figures = ({ from, to }: Range) => ({
    from,
    to,
    ...Object.fromEntries(KINDS.map((kind) => [kind, rounded(figuresOf(load[kind], from, to))])),
    open: rounded(figuresOf(load.open(), from, to)),
  });
  const total = Object.fromEntries(KINDS.map((kind) => [kind, sum(load[kind])]));
  return {
    devices: config.devices,
    seconds: load.seconds,
    steady: figures(steady),
    back: figures(back),
    total,
  };
}

function tableOf(config: FleetConfig, load: Load): string {
  const { steady, back } = rangesOf(config);
  const row = (name: string, all: Float64Array, total: string): string[] => {
    const before = figuresOf(all, steady.from, steady.to);
    const after = figuresOf(all, back.from, back.to);
    const shown = [
      before.mean,
      before.busiestMinute,
      before.busiestSecond,
      after.busiestMinute,
      after.busiestSecond,
    ];
    return [name, ...shown.map(short), total];
  };
  const head = [
    "a second",
    "mean",
    "busiest minute",
    "busiest second",
    "way back: minute",
    "second",
    "in all",
  ];
  return table(head, [
    row("requests", load.requests, short(sum(load.requests))),
    row("connections opened", load.connections, short(sum(load.connections))),
    row("connections open", load.open(), "-"),
    row("bytes, both ways", load.bytes, short(sum(load.bytes))),
    row("points", load.points, short(sum(load.points))),
  ]);
}

function headline({ url, connections }: ModelFlags, { devices, intervalMs }: FleetConfig): string {
  const scheme = url.slice(0, url.indexOf(":")).toLowerCase();
  const lines = `${connections} connection${connections === "1" ? "" : "s"}`;
  return `${devices.toLocaleString("en-US")} devices, a point every ${span(intervalMs)}, ${lines}, ${scheme}`;
}

function sentence(flags: ModelFlags, config: FleetConfig): string {
  const { forMs, outage, pollLimitMs, rampMs } = config;
  const cut = outage ? `; cut for ${span(outage.toMs - outage.fromMs)} after ${span(outage.fromMs)}` : "";
  return `${headline(flags, config)}, started over ${span(rampMs)}; polls end after ${span(pollLimitMs)}; ${span(forMs)}${cut}`;
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

/** In the largest unit that keeps it short. */
function span(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => ms >= size) ?? [1, "ms"];
  return `${Math.round((ms / unit) * 100) / 100} ${name}`;
}

/** Three digits that count, as `1.24 M`. */
function short(value: number): string {
  const [unit, name] = (
    [
      [1e9, " G"],
      [1e6, " M"],
      [1e4, " k"],
    ] as const
  ).find(([size]) => value >= size) ?? [1, ""];
  const scaled = value / (name === " k" ? 1e3 : unit);
  return `${scaled >= 100 ? Math.round(scaled).toLocaleString("en-US") : Number(scaled.toPrecision(3))}${name}`;
}

const sum = (all: Float64Array): number => all.reduce((total, value) => total + value, 0);

const rounded = (figures: object): object =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 100) / 100]));

function save(path: string, svg: string): void {
  try {
    writeFileSync(path, svg);
    note(`drawn to ${path}`);
  } catch (error) {
    throw new UsageError(`--svg ${path} can't be written (${codeOf(error)})`);
  }
}
