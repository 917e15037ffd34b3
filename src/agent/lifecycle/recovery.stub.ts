// In place of recovery.ts in the lean build: the application is started each time, as no update can come that repairs it.
import type * as full from "./recovery.js";

export class Recovery implements Pick<full.Recovery, keyof full.Recovery> {
  static isAskedFor(): boolean {
    return false;
  }

  readonly active = false;
  readonly cause = "";

  attend(): void {}

  steady(): void {}

  over(): void {}

  close(): void {}
}
