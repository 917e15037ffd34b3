import type { Agent } from "../../src/agent/agent.js";
import type { Blocks, Host } from "../../src/port.js";

/** What is asked of an agent. */
export interface LogAgent {
  readonly on: Agent["on"];
  readonly attributes: Pick<Agent["attributes"], "subscribe">;
  readonly rpc: Pick<Agent["rpc"], "handle" | "answerBytes">;
}

/**
 * Bytes for the last lines, 4 KiB as a rule, which outlive a restart and a crash; a power loss they need not. Unlike flash, a byte is written again and
 * again. A crash leaves any part of a write.
 */
export type LogMemory = Pick<Blocks, "size" | "read" | "write">;

/** What is asked of a host. Without `logMemory` the lines are kept in 4 KiB of this object, and end with the run. */
export interface LogHost
  extends Pick<Host, "clock" | "encode" | "decode" | "random" | "log" | "lastRun" | "redactor"> {
  readonly logMemory?: LogMemory;
}

export interface LogOptions {
  /** What identifies the image: on a board the beginning of ESP-IDF's SHA-256 of its ELF file, as hexadecimal digits. */
  readonly build?: string | undefined;
}

/** What `mote.log` answers. */
export interface LogAnswer {
  /** Another one after a power-on of a board, and where the memory was damaged: then numbers of before say nothing. */
  readonly log: string;
  readonly build: string | null;
  /** Seconds since the start of this run, and the level that holds now. */
  readonly uptime: number;
  readonly level: string;
  /** Lines after `since` that were overwritten before anybody asked. */
  readonly lost: number;
  /** Number, uptime of its run in seconds, level, text; the newest last. */
  readonly lines: readonly (readonly [number, number, string, string])[];
  /** For the next call. */
  readonly since: number;
  /** There are lines behind it that did not fit. */
  readonly more: boolean;
}
