import { generator } from "./random.js";

/** In which order the platform lists things that have none. */
export type Order = <T>(items: readonly T[]) => readonly T[];

/** As they came. */
export const asTheyCame: Order = (items) => items;

/** Another one each time; the same seed gives the same orders. */
export function shuffledBy(seed: number): Order {
  const random = generator(seed);
  return (items) => {
    const shuffled = [...items];
    for (let at = shuffled.length - 1; at > 0; at--) {
      const other = random(at + 1);
      const item = shuffled[at] as (typeof shuffled)[number];
      shuffled[at] = shuffled[other] as (typeof shuffled)[number];
      shuffled[other] = item;
    }
    return shuffled;
  };
}
