// What was found out about the longest poll that the way to the platform lets pass, kept over a restart: each try costs RPCs.

import type { Target } from "../http/target.js";
import type { Host } from "../port.js";
import { readStored, writeStored } from "../store.js";
import { isObject } from "../wire/text/json.js";
import { PollTiming } from "./poll-timing.js";

const STORED = "poll";

/** The timing of polls to `target`, with the ceiling found in an earlier run. Another base URL has another way. */
export const rememberedTiming = (host: Host, target: Target): PollTiming => {
  const kept = readStored(host, STORED);
  if (!isObject(kept) || kept.to !== wayTo(target)) return new PollTiming();
  const { ceilingMs, restMs } = kept;
  if (typeof ceilingMs !== "number" || typeof restMs !== "number") return new PollTiming();
  return new PollTiming({ ceilingMs, restMs });
};

/** To be called after polls: stores the ceiling when it has changed. */
export class PollMemory {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _timing: PollTiming;
  private _stored: number | undefined;

  constructor(host: Host, target: Target, timing: PollTiming) {
    this._host = host;
    this._target = target;
    this._timing = timing;
    this._stored = timing.ceiling?.ceilingMs;
  }

  keep(): void {
    const { ceiling } = this._timing;
    if (ceiling?.ceilingMs === this._stored) return;
    this._stored = ceiling?.ceilingMs;
    if (ceiling) writeStored(this._host, STORED, { to: wayTo(this._target), ...ceiling });
    else this._host.store.delete(STORED);
  }
}

const wayTo = (target: Target): string => `${target.secure}/${target.authority}${target.prefix}`;
