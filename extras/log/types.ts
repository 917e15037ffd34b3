import type { Agent } from "../../src/agent/agent.js";
import type { Blocks, Host } from "../../src/port.js";

/** The parts of an agent that are used. */
export interface LogAgent {
  readonly on: Agent["on"];
  readonly attributes: Pick<Agent["attributes"], "subscribe">;
  readonly rpc: Pick<Agent["rpc"], "handle" | "answerBytes">;
}

/**
 * Memory for the last lines, usually 4 KiB, that survives a restart or crash, but not necessarily
 * power loss. Unlike flash, bytes can be rewritten. A crash may leave any part of a write.
 */
export type LogMemory = Pick<Blocks, "size" | "read" | "write">;

/**
 * The parts of a host that are used. Without `logMemory`, the lines are in 4 KiB of this object and
 * end with the run.
 */
export interface LogHost
  extends Pick<Host, "clock" | "encode" | "decode" | "random" | "log" | "lastRun" | "redactor"> {
  readonly logMemory?: LogMemory;
}

export interface LogOptions {
  /**
   * Identifies the image: on a board the beginning of ESP-IDF's SHA-256 of its ELF file, in
   * hexadecimal.
   */
  readonly build?: string | undefined;
}

/** The answer of `mote.log`. */
export interface LogAnswer {
  /**
   * Changes after a board's power-on and when the memory was damaged; earlier numbers are then
   * meaningless.
   */
  readonly log: string;
  readonly build: string | null;
  /** Seconds since the start of this run, and the current level. */
  readonly uptime: number;
  readonly level: string;
  /** Number of lines after `since` that were overwritten. */
  readonly lost: number;
  /** Number, uptime of its run in seconds, level, text; newest last. */
  readonly lines: readonly (readonly [number, number, string, string])[];
  /** For the next call. */
  readonly since: number;
  /** More lines exist that did not fit. */
  readonly more: boolean;
}
