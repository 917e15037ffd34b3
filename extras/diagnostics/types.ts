import type { Agent } from "../../src/agent/agent.js";
import type { Blocks, Host } from "../../src/port.js";
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

/** The parts of an agent that the device log uses. */
export interface LogAgent {
  readonly on: Agent["on"];
  readonly rpc: Pick<Agent["rpc"], "handle" | "answerBytes">;
}

/**
 * Memory for the last lines, usually 4 KiB, that survives a restart or crash, but not necessarily
 * power loss. Unlike flash, bytes can be rewritten. A crash may leave any part of a write.
 */
export type LogMemory = Pick<Blocks, "size" | "read" | "write">;

/**
 * The parts of a host that the device log uses. Without `logMemory`, the lines are in 4 KiB of the
 * log and end with the run.
 */
export interface LogHost extends Pick<Host, "clock" | "encode" | "decode" | "log" | "lastRun" | "redactor"> {
  readonly logMemory?: LogMemory;
}

export interface LogOptions {
  /**
   * Identifies the image: on a board the beginning of ESP-IDF's SHA-256 of its ELF file, in
   * hexadecimal.
   */
  readonly build?: string | undefined;
}

/** The answer of `mote.log`: the newest lines that fit into `rpc.answerBytes`. */
export interface LogAnswer {
  readonly build: string | null;
  /** Seconds since the start of this run. */
  readonly uptime: number;
  /** Uptime of its run in seconds, level (info, warn, error), text; newest last. */
  readonly lines: readonly (readonly [number, string, string])[];
}
