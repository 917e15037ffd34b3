import type { SectorState } from "./sector-header.js";

/** Called with what the log can't do. */
export interface LogListener {
  /** A line for people. */
  log(line: string): void;
  /** Something could not be written. */
  failed(): void;
  /** What failed to be written can be written again. */
  healed(): void;
}

/** Called with what becomes of the queue in the sectors. */
export interface SectorsListener extends LogListener {
  /** The state is read, and nothing is done yet. True if `state` holds now what flash does not. */
  opened(state: SectorState): boolean;
  /** Points went for want of room, or because they can't be read. */
  dropped(points: number, reason: "full" | "unreadable"): void;
}
