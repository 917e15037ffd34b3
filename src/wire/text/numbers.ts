// Number texts that are short enough for the platform to store as numbers, even after it reformats
// them.
//
// The platform stores a 64-bit integer as a long and a larger one as a string. It stores a number
// of at most 16 decimals as a double and a longer one as a string. It reformats doubles (`1.0E-15`)
// and checks them again, which costs one decimal.

const LONG_MAX = 9223372036854775807n;
const LONG_MIN = -9223372036854775808n;
const LONG_END = 2 ** 63;

const DECIMALS = 15;
const DIGITS = 15;

/**
 * The text of a number that the platform stores as a number; undefined for NaN, Infinity and |x| >=
 * 2^63. Integers are written in full, others with at most 15 significant digits and 15 decimals,
 * without exponent: 0.1 + 0.2 is 0.3, 1e-16 is 0. A whole double (21.0) is stored as a long.
 */
export const numberText = (value: number): string | undefined => {
  if (!(Math.abs(value) < LONG_END)) return undefined;
  const text = String(value);
  // Beyond 2^53 engines write different texts for a double, but its exact value is the same.
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? text : BigInt(value).toString();
  const size = Math.abs(value);
  const length = value < 0 ? text.length - 1 : text.length;
  if (size >= 1) return length <= DIGITS + 1 ? text : String(Number(value.toPrecision(DIGITS)));
  if (size >= 1e-6 && length <= DECIMALS + 2) return text;
  const rounded = value.toFixed(DECIMALS);
  let end = rounded.length;
  while (rounded.charAt(end - 1) === "0") end--;
  if (rounded.charAt(end - 1) === ".") end--;
  const short = rounded.slice(0, end);
  return short === "-0" ? "0" : short;
};

/** The text of a long; undefined beyond 64 bits. */
export const longText = (value: bigint): string | undefined => {
  return value < LONG_MIN || value > LONG_MAX ? undefined : value.toString();
};
