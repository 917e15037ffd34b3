/** Whole numbers from 0 up to but not including `below`. */
export type Random = (below: number) => number;

/** A small generator (mulberry32): the same seed gives the same numbers. Not for secrets. */
export function generator(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
