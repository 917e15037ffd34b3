import type { Agent } from "../../src/agent/agent.js";
import type { Host } from "../../src/port.js";
import type { Noted } from "./record.js";

/** What is asked of an agent. */
export interface DiagnosticsAgent {
  readonly on: Agent["on"];
  readonly state: Agent["state"];
  readonly counters: Pick<Agent["counters"], "roundTrips" | "retries" | "fetchedTwice" | "malformedAnswers">;
  readonly platformTime: Agent["platformTime"];
  readonly telemetry: Pick<Agent["telemetry"], "waiting" | "dropped">;
  readonly attributes: Pick<Agent["attributes"], "publish">;
  readonly rpc: Pick<Agent["rpc"], "handle" | "answerBytes">;
}

/** What is asked of a host. */
export type DiagnosticsHost = Pick<Host, "clock" | "store" | "encode" | "decode" | "log" | "lastRun">;

export interface DiagnosticsOptions {
  /** Bytes of memory that are free now, or the least there were. Asked once a minute. */
  readonly freeMemory?: (() => number) | undefined;
  /** What the machine reports of its memory, in bytes: for `mote.health` alone. */
  readonly memory?: (() => Readonly<Record<string, number>>) | undefined;
}

/** What `mote.health` answers. */
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
  /** On a board: both pools, and what was never used of them. */
  readonly memory?: Readonly<Record<string, number>>;
  readonly resets: { readonly [reason: string]: number };
  /** The latest last. Fewer than there are if the answer would be longer than `rpc.answerBytes`. */
  readonly errors: readonly Noted[];
}
