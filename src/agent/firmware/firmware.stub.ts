// In place of firmware.ts in the lean build: no updates. Options of a firmware are refused, so that nobody waits for one in vain.

import type { PlatformSession } from "../../platform/index.js";
import { refuseLeftOut } from "../options/rules.js";
import type * as full from "./firmware.js";

export const FIRMWARE = refuseLeftOut;

export class Firmware implements Omit<full.Firmware, "awake" | "asleep" | "busy" | "underWay"> {
  readonly keys = [];
  readonly downloading = false;
  private readonly _session: PlatformSession;

  constructor(session: PlatformSession) {
    this._session = session;
    session.loop("firmware", this);
  }

  set reader(_: { readSoon(): void }) {}

  retry(): void {}

  isSigned(): Promise<boolean> {
    return Promise.resolve(false);
  }

  interrupted(): void {}

  crashed(): void {}

  offer(): void {}

  changed(): void {}

  platformReached(): void {}

  begin(): void {
    // Nothing could ever replace such an image, so it is not kept.
    const { host } = this._session;
    if (host.slot.state() === "pending") {
      host.log("error", "a new image that takes no updates is not kept");
      if (host.slot.revert()) host.restart("firmware");
    }
  }

  turn(): undefined {}
}
