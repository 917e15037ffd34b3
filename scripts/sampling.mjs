// What a sample needs: the same draw for the same seed, and how sure its share is.

/** In an order that the seed decides (mulberry32). */
export function shuffled(list, seed) {
  let state = seed >>> 0;
  const share = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return list
    .map((item) => [share(), item])
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

/** The 95 % interval of a share, by Wilson. */
export function interval(hits, all) {
  const z = 1.96;
  const p = hits / all;
  const middle = (p + (z * z) / (2 * all)) / (1 + (z * z) / all);
  const half = (z / (1 + (z * z) / all)) * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all));
  return [middle - half, middle + half].map((share) => `${(100 * share).toFixed(1)} %`).join(" to ");
}
