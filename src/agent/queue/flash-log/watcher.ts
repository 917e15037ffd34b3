import type { SectorState } from "./sector-header.js";

/** Who is told what the log can't do. */
export interface LogOwner {
  /** A line for people. */
  tell(line: string): void;
  /** Something could not be written. */
  failed(): void;
  /** What failed to be written can be written again. */
  healed(): void;
}

/** Who is told what becomes of the queue in the sectors. */
export interface SectorsOwner extends LogOwner {
  /** The state is read, and nothing is done yet. True if `state` holds now what flash does not. */
  opened(state: SectorState): boolean;
  /** Points went for want of room, or because they can't be read. */
  dropped(points: number, reason: "full" | "unreadable"): void;
}
