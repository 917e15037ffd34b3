// Numbers as they leave: short enough that the platform stores them as numbers, also after it has parsed its own spelling of them.
//
// The platform (contract of its JSON converter): an integer of 64 bits is a long; beyond, a string. A decimal number of at most 16
// decimals is a double; with more, a string. It writes doubles again (`1.0E-15`) and judges them a second time, which costs a decimal.

const LONG_MAX = 9223372036854775807n;
const LONG_MIN = -9223372036854775808n;
const LONG_END = 2 ** 63;

const DECIMALS = 15;
const DIGITS = 15;

/**
 * The text of a number that the platform stores as a number, or undefined for NaN, Infinity and |x| >= 2^63.
 * Integers leave in full; others with 15 significant digits and 15 decimals at most, never with an exponent: 0.1 + 0.2 as 0.3, 1e-16 as 0. A double without decimals (21.0) is stored as a long.
 */
export const numberText = (value: number): string | undefined => {
  if (!(Math.abs(value) < LONG_END)) return undefined;
  const text = String(value);
  // Beyond 2^53 engines choose different texts for one double; its exact value is the same everywhere.
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

/** The text of a long, or undefined beyond 64 bits. */
export const longText = (value: bigint): string | undefined => {
  return value < LONG_MIN || value > LONG_MAX ? undefined : value.toString();
};
