// How the platform types a JSON number or string: once as it arrives, and again after it has written the value its own way.

export type Stored = { readonly type: "LONG" | "DOUBLE" | "STRING"; readonly text: string };

const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/** Digits without the point, and how many of them are decimals (negative for zeros to add): Java's BigDecimal. */
function decimalOf(literal: string): { unscaled: bigint; scale: number } {
  const [, sign, whole, decimals = "", exponent = "0"] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  return { unscaled: BigInt(`${sign}${whole}${decimals}`), scale: decimals.length - Number(exponent) };
}

function plainText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return `${unscaled}${"0".repeat(-scale)}`;
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** One pass over the text of a number. */
function once(literal: string): Stored {
  const { unscaled, scale } = decimalOf(literal);
  const simple = literal.includes(".") && !/[eE]/.test(literal);
  const whole = scale <= 0 || unscaled % 10n ** BigInt(scale) === 0n;
  if (whole && !simple) {
    const value = scale <= 0 ? unscaled * 10n ** BigInt(-scale) : unscaled / 10n ** BigInt(scale);
    return value >= LONG_MIN && value <= LONG_MAX
      ? { type: "LONG", text: `${value}` }
      : { type: "STRING", text: `${value}` };
  }
  if (scale > 16) return { type: "STRING", text: plainText(unscaled, scale) };
  return { type: "DOUBLE", text: javaText(Number(literal)) };
}

/** Double.toString of Java: `42.0`, `1.0E7`, `1.0E-4`. */
export function javaText(value: number): string {
  const [digits = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const sign = value < 0 ? "-" : "";
  const power = Number(exponent);
  if (value === 0) return "0.0";
  if (power < -3 || power >= 7) return `${sign}${digits.includes(".") ? digits : `${digits}.0`}E${power}`;
  const plain = String(Math.abs(value));
  return `${sign}${plain.includes(".") ? plain : `${plain}.0`}`;
}

/** What the platform stores for the literal of a number. */
export function typeOfNumber(literal: string): Stored {
  const first = once(literal);
  return first.type === "STRING" ? first : once(first.text);
}

/** What the platform stores for a string: it casts digits, with at most one point between them, and at most a minus. */
export function typeOfString(text: string): Stored {
  return /^-?(\d+|\d*\.\d+)$/.test(text) ? typeOfNumber(text) : { type: "STRING", text };
}

/** How the platform stores a number: the literal sent, the type, and the stored value as text. */
export const TYPED_NUMBERS: readonly (readonly [literal: string, type: string, text: string])[] = [
  ["42", "LONG", "42"],
  ["-0", "LONG", "0"],
  ["42.0", "DOUBLE", "42.0"],
  ["1e3", "LONG", "1000"],
  ["1.0e3", "LONG", "1000"],
  ["1.5e3", "LONG", "1500"],
  ["100.50", "DOUBLE", "100.5"],
  ["9223372036854775807", "LONG", "9223372036854775807"],
  ["9223372036854775808", "STRING", "9223372036854775808"],
  ["1e19", "STRING", "10000000000000000000"],
  ["9999999.0", "DOUBLE", "9999999.0"],
  ["10000000.0", "LONG", "10000000"],
  ["12345678.0", "LONG", "12345678"],
  ["0.1234567890123456", "DOUBLE", "0.1234567890123456"],
  ["0.30000000000000004", "STRING", "0.30000000000000004"],
  ["0.06666666666666667", "STRING", "0.06666666666666667"],
  ["5e-7", "DOUBLE", "5.0E-7"],
  ["1e-16", "STRING", "0.00000000000000010"],
  ["1e-17", "STRING", "0.00000000000000001"],
  ["1.2345678901234567e-5", "STRING", "0.000012345678901234567"],
];
