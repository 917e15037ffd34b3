// What a staged rollout notes of each device, on the platform itself: the server attribute
// `moteRollout`. Whoever calls the rollout again, from any machine, goes on with it; devices can't
// read it.

export const ROLLOUT_KEY = "moteRollout";

/**
 * `{"package":"7c5e…","title":"pump","plan":[1,100],"stage":2,"at":1700000000000}`
 */
export interface RolloutRecord {
  /** The id of the package that was assigned. */
  readonly package: string;
  readonly title: string;
  readonly version: string;
  /** From 1. */
  readonly stage: number;
  /** How many devices have it with each stage, as it was planned then. */
  readonly plan: readonly number[];
  /** When it was assigned, by the operator's clock: milliseconds since 1970, as all that follow. */
  readonly at: number;
  /** The device's own package before; absent: it had its profile's. */
  readonly own?: string;
  /** The profile's package when this was written; absent if it had none. */
  readonly profile?: string;
  /** When the profile was about to get the image: `profile` is what `--undo` gives back to it. */
  readonly handedOver?: number;
  /**
   * The hand-over is finished: the device follows its profile, and later assignments are not ours.
   */
  readonly ended?: boolean;
  /** Last activity when first seen updated, by the platform's clock. 0: start again. */
  readonly updatedAt?: number;
  /** It was online for the soak. */
  readonly passed?: boolean;
  /** `--undo` began to take the image back: no rollout goes on with this device. */
  readonly undoing?: boolean;
}

/** Undefined for anything else: anybody may write that attribute. */
export function readRollout(value: unknown): RolloutRecord | undefined {
  const found = (typeof value === "string" ? parsed(value) : value) as
    | Partial<RolloutRecord>
    | undefined
    | null;
  if (typeof found !== "object" || found === null) return undefined;
  const { package: id, title, version, stage, plan, at } = found;
  const texts = [id, title, version].every((text) => typeof text === "string" && text !== "");
  const numbers = [stage, at].every(Number.isSafeInteger);
  const isPlan =
    Array.isArray(plan) && plan.length > 0 && plan.length <= 100 && plan.every(Number.isSafeInteger);
  return texts && numbers && isPlan ? (found as RolloutRecord) : undefined;
}

/** Which part of a rollout is not over; undefined: it is over. */
export const openPart = ({ ended, handedOver }: RolloutRecord): "hand-over" | "stages" | undefined =>
  ended ? undefined : handedOver === undefined ? "stages" : "hand-over";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
