// Replaces recovery.ts in the lean build: the application always starts, because no update could
// repair it.
import type * as full from "./recovery.js";

export class Recovery implements Pick<full.Recovery, keyof full.Recovery> {
  static isAskedFor(): boolean {
    return false;
  }

  readonly active = false;
  readonly cause = "";

  attach(): void {}

  markStable(): void {}

  clear(): void {}

  close(): void {}
}
