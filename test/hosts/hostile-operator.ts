// What an operator can do to a device: RPCs and shared attributes as large, as deep and as many as the platform lets through.
import type { Dice } from "../simulation/dice.js";

const MOST_CHARACTERS = 65_000;
const MOST_LEVELS = 64;
const MOST_KEYS = 500;
const AT_ONCE = 10;

export interface OperatorActs {
  /** Calls a method that answers with its params; resolves also when that is refused. */
  echo(params: unknown): Promise<unknown>;
  /** Sets shared attributes. */
  share(values: Record<string, unknown>): Promise<unknown>;
}

/** One deed each, as `dice` has it. `limit`: bytes of params that the device takes; much comes close to it. */
export function hostileDeeds(
  dice: Dice,
  limit: number,
  { echo, share }: OperatorActs,
): readonly (() => Promise<unknown>)[] {
  const around = (): string => text(limit - '{"v":""}'.length + dice.below(5) - 2);
  return [
    () => echo({ v: text(sizeOf(dice)) }),
    () => echo({ v: nested(1 + dice.below(MOST_LEVELS), text(sizeOf(dice) / 8)) }),
    () => echo({ v: around() }),
    () => Promise.all(Array.from({ length: AT_ONCE }, () => echo({ v: around() }))),
    () => share({ large: text(sizeOf(dice)) }),
    () => share({ deep: nested(1 + dice.below(MOST_LEVELS), 1) }),
    () => share(keys(1 + dice.below(MOST_KEYS))),
  ];
}

const text = (length: number): string => "x".repeat(Math.max(0, length));

const keys = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-of-some-length-${n}`, n]));

const nested = (levels: number, inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
  return value;
};

/** Most are small, some are as large as can be. */
const sizeOf = (dice: Dice): number => Math.floor(MOST_CHARACTERS ** (dice.below(1000) / 999));
