import { X509Certificate } from "node:crypto";
import { InvalidArgumentError, Option } from "commander";

/** Wrong usage: reported without a stack, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;
const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};
/** What a timer holds. */
const LONGEST = 24 * 86_400_000;

/** Milliseconds of `500ms`, `1s`, `1.5h`, `2d`, `1w`; undefined for anything else. */
export function milliseconds(text: string): number | undefined {
  const [, number, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Math.round(Number(number) * UNITS[unit]!);
}

/** Milliseconds of `500ms`, `1s`, `2m`, `1h`, `1d`, `1w`: 1 ms to 24 days. For commander. */
export function duration(text: string): number {
  const ms = milliseconds(text) ?? 0;
  if (ms < 1 || ms > LONGEST)
    throw new InvalidArgumentError("It is a duration like 500ms, 1s or 2m, up to 24d.");
  return ms;
}

/** An option that takes a duration; its default stands in the help as it would be typed. */
export function durationOption(flags: string, description: string, fallback?: string): Option {
  const option = new Option(flags, description).argParser(duration);
  return fallback === undefined ? option : option.default(duration(fallback), fallback);
}

const PEM =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** `pem`, unchanged, if it holds certificates and nothing but good ones: Node would leave out the others in silence. */
export function certificates(option: string, pem: string): string {
  const found = pem.match(PEM) ?? [];
  try {
    for (const one of found) new X509Certificate(one);
  } catch {
    throw new UsageError(`${option} holds a certificate that can't be read`);
  }
  if (found.length === 0) throw new UsageError(`${option} holds no certificate (PEM)`);
  return pem;
}

/** A whole number from 1 on. For commander. */
export function count(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return value;
}

/** A TCP port; 0 lets the system choose. For commander. */
export function port(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError("It is a number from 0 to 65535.");
  }
  return value;
}
