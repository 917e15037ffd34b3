import type { Clock } from "../core/common/clock.js";
import type { DeviceResponse } from "../device/messages.js";
import type { Plan } from "./switchboard.js";

type Respond = (answer: DeviceResponse) => void;

/** How much the platform's clock is ahead for a request. */
export function skewOf({ effects }: Plan): number {
  return effects.reduce((sum, { skewMs = 0 }) => sum + skewMs, 0);
}

/** Whether the platform loses what a request brings. */
export const isUnstored = ({ effects }: Plan): boolean => effects.some((effect) => effect.isUnstored);

/**
 * Serves a request with what is planned for it. `respond` is called once at most; `lost` instead of
 * it when no answer will come. The result is called when the device hangs up before.
 */
export function runPlan(
  plan: Plan,
  clock: Clock,
  serve: (respond: Respond) => () => void,
  respond: Respond,
  lost: () => void,
): () => void {
  const delayMs = plan.effects.reduce((sum, effect) => sum + (effect.delayMs ?? 0), 0);
  let cancel = (): void => {};
  const answered: Respond = (answer) => {
    const changed = change(plan, clock, answer);
    if (changed === "silence") lost();
    else if (delayMs === 0) respond(changed);
    else cancel = clock.timer(delayMs, () => respond(changed));
  };
  const instead = plan.effects.find((effect) => effect.instead !== undefined)?.instead;
  if (instead === "silence") lost();
  else if (instead) answered(instead);
  const abandon = instead === undefined ? serve(answered) : undefined;
  return () => {
    cancel();
    abandon?.();
  };
}

function change(plan: Plan, clock: Clock, answer: DeviceResponse): DeviceResponse | "silence" {
  const skewMs = skewOf(plan);
  let changed: DeviceResponse = answer;
  if (skewMs !== 0) {
    const date = new Date(clock.now() + skewMs).toUTCString();
    changed = { ...answer, headers: { ...answer.headers, Date: date } };
  }
  for (const effect of plan.effects) {
    const next = effect.change?.(changed) ?? changed;
    if (next === "silence") return next;
    changed = next;
  }
  return changed;
}
