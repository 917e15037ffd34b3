/** `value` with `count` digits, or the whole number where it has more. */
export const digits = (value: number, count = 4): string =>
  (value >= 1000 ? Math.round(value) : Number(value.toPrecision(count))).toLocaleString("en-US");
