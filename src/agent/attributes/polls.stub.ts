// Replaces polls.ts in the lean build: with at most two connections, shared attributes are read
// every 30 s.
import type * as full from "./polls.js";

export const READ_AFTER_POLL_MS = 0;
export const MOST_CONNECTIONS = 2;

export class AttributePolls implements Pick<full.AttributePolls, keyof full.AttributePolls> {
  readonly failing = true;
  readonly hasChange = false;
  readonly hasEnded = false;

  clear(): void {}

  knownUntil(): void {}

  dueMs(): undefined {}

  open(): void {}

  processEnded(): undefined {}
}
