import type { AppHost } from "../../hosts/device/application.js";

/** The sample was called so when it wrote this for the first time. */
const KEY = "desk.starts";
/** The record: this byte, then a decimal count in ASCII. */
const FORMAT = 1;
const ZERO = 48;
const NINE = 57;

/** How often the application was started on this machine, this time included. A record it can't read is left alone. */
export const countStart = (host: Pick<AppHost, "store">): number | undefined => {
  const record = host.store.get(KEY);
  const before = record ? parse(record) : 0;
  if (before === undefined) return undefined;
  const count = before + 1;
  host.store.set(KEY, format(count));
  return count;
};

const parse = (record: Uint8Array): number | undefined => {
  if (record[0] !== FORMAT || record.length < 2 || record.length > 10) return undefined;
  let count = 0;
  for (let at = 1; at < record.length; at++) {
    const digit = record[at] ?? 0;
    if (digit < ZERO || digit > NINE) return undefined;
    count = count * 10 + (digit - ZERO);
  }
  return count;
};

const format = (count: number): Uint8Array => {
  const digits = String(count);
  const record = new Uint8Array(1 + digits.length);
  record[0] = FORMAT;
  for (let at = 0; at < digits.length; at++) record[1 + at] = digits.charCodeAt(at);
  return record;
};
