import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import { codeOf } from "../../hosts/node/files.js";

/** Wrong usage: exit code 2, printed without a stack. */
export class UsageError extends Error {
  override name = "UsageError";
}

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;
const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};
/** Limit of a timer. */
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
    throw new InvalidArgumentError("Expected a duration such as 500ms, 1s or 2m, at most 24d.");
  return ms;
}

/** An option with a duration. The help shows the default as it is typed. */
export function durationOption(flags: string, description: string, fallback?: string): Option {
  const option = new Option(flags, description).argParser(duration);
  return fallback === undefined ? option : option.default(duration(fallback), fallback);
}

const PEM =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Returns `pem` if all its certificates are readable; Node would silently ignore the others. */
export function certificates(option: string, pem: string): string {
  const found = pem.match(PEM) ?? [];
  try {
    for (const one of found) new X509Certificate(one);
  } catch {
    throw new UsageError(`${option} contains an unreadable certificate`);
  }
  if (found.length === 0) throw new UsageError(`${option} contains no certificate (expected PEM)`);
  return pem;
}

/** Reads a file; `option` names it in errors. Throws UsageError. */
export function readInput(path: string, option?: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const name = option === undefined ? path : `${option} ${path}`;
    throw new UsageError(`cannot read ${name} (${codeOf(error)})`);
  }
}

/** The CA certificates (PEM) of `--ca`; undefined without the option. Throws UsageError. */
export const readCa = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : certificates("--ca", readInput(path, "--ca").toString());

/** Parses a positive integer for commander. */
export function count(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError("Expected a whole number from 1 up.");
  return value;
}

/** Parses a TCP port for commander; 0 lets the system choose. */
export function port(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError("Expected a number from 0 to 65535.");
  }
  return value;
}
