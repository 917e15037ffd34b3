import type { Clock } from "../core/common/clock.js";
import type { DeviceResponse } from "../device/messages.js";
import type { Plan } from "./switchboard.js";

export type Respond = (answer: DeviceResponse) => void;

/**
 * Serves a request with its planned faults. Calls either `respond`, or `lost` if no answer will
 * come, at most once. The caller calls the result if the device hangs up before.
 */
export function runPlan(
  plan: Plan,
  clock: Clock,
  serve: (respond: Respond) => () => void,
  respond: Respond,
  lost: () => void,
): () => void {
  const { delayMs, effects } = plan;
  let cancel = (): void => {};
  const answered: Respond = (answer) => {
    const changed = change(plan, answer);
    if (changed === "silence") lost();
    else if (delayMs === 0) respond(changed);
    else cancel = clock.timer(delayMs, () => respond(changed));
  };
  const instead = effects.find((effect) => effect.instead !== undefined)?.instead;
  if (instead === "silence") lost();
  else if (instead) answered(instead);
  const abandon = instead === undefined ? serve(answered) : undefined;
  return () => {
    cancel();
    abandon?.();
  };
}

function change({ effects }: Plan, answer: DeviceResponse): DeviceResponse | "silence" {
  let changed = answer;
  for (const effect of effects) {
    const next = effect.change?.(changed) ?? changed;
    if (next === "silence") return next;
    changed = next;
  }
  return changed;
}
