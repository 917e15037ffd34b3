// A number as the platform's decimal type sees it: digits and where the point stands.

/** `-12.50` is sign `-`, digits `1250`, scale 2. */
export interface Decimal {
  readonly sign: "" | "-";
  /** Without zeros in front. */
  readonly digits: string;
  /** Digits behind the point; less than 0: zeros to add. */
  readonly scale: number;
}

/** Digits a number may be spelt with, and zeros its exponent may stand for. */
const MOST = 10_000;
const PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

/** Undefined if it has too many digits, or is no number. */
export function decimalOf(text: string): Decimal | undefined {
  if (text.length > MOST) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = PARTS.exec(text) ?? [];
  if (sign === undefined || whole + fraction === "") return undefined;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) >= MOST) return undefined;
  return { sign: sign === "-" ? "-" : "", digits: (whole + fraction).replace(/^0+(?=.)/, ""), scale };
}

/** Without its fraction. */
export function wholeOf({ sign, digits, scale }: Decimal): bigint {
  const whole = scale > 0 ? digits.slice(0, -scale) : digits + "0".repeat(-scale);
  return BigInt(`${sign}${whole}` === sign ? 0 : `${sign}${whole}`);
}

/** Whether it has no fraction but zeros. */
export function isWhole({ digits, scale }: Decimal): boolean {
  let zeros = 0;
  while (zeros < scale && digits[digits.length - 1 - zeros] === "0") zeros++;
  return digits === "0" || zeros >= scale;
}

/** In digits alone, without an exponent. */
export function plainText({ sign, digits, scale }: Decimal): string {
  if (scale <= 0) return sign + (digits === "0" ? "0" : digits + "0".repeat(-scale));
  const padded = digits.padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}
