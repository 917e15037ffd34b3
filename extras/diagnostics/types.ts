import type { Agent } from "../../src/agent/agent.js";
import type { Host } from "../../src/port.js";
import type { Noted } from "./record.js";

/** The parts of an agent that are used. */
export interface DiagnosticsAgent {
  readonly on: Agent["on"];
  readonly state: Agent["state"];
  readonly counters: Pick<Agent["counters"], "roundTrips" | "retries" | "fetchedTwice" | "malformedAnswers">;
  readonly platformTime: Agent["platformTime"];
  readonly telemetry: Pick<Agent["telemetry"], "waiting" | "dropped">;
  readonly attributes: Pick<Agent["attributes"], "publish">;
  readonly rpc: Pick<Agent["rpc"], "handle" | "answerBytes">;
}

/** The parts of a host that are used. */
export type DiagnosticsHost = Pick<Host, "clock" | "store" | "encode" | "decode" | "log" | "lastRun">;

export interface DiagnosticsOptions {
  /** Free memory in bytes, or its minimum. Called once a minute. */
  readonly freeMemory?: (() => number) | undefined;
  /** The machine's memory figures in bytes, for `mote.health` only. */
  readonly memory?: (() => Readonly<Record<string, number>>) | undefined;
}

/** The answer of `mote.health`. */
export interface Health {
  readonly state: string;
  readonly upSeconds: number;
  readonly queueDepth: number;
  readonly dropped: { readonly full: number; readonly refused: number; readonly unreadable: number };
  readonly roundTrips: number;
  readonly retries: number;
  readonly malformedAnswers: number;
  readonly fetchedTwice: number;
  readonly leastFree: number | null;
  /** On a board: both pools, and their unused parts. */
  readonly memory?: Readonly<Record<string, number>>;
  readonly resets: { readonly [reason: string]: number };
  /** Latest last. Truncated to fit `rpc.answerBytes`. */
  readonly errors: readonly Noted[];
}
