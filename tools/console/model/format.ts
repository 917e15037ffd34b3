// Formats numbers and times for people, in English like the page.

const EARLIEST = Date.UTC(2001, 8, 9);
const LATEST = Date.UTC(2128, 0);
const TIMES = /(?:[tT]ime|[tT]imestamp|[dD]ate)$|(?:^|[_.\- ])(?:ts|at|since|until)$|(?:Ts|At|Since|Until)$/;
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** `50 MB`; "size not known" for undefined. */
export function bytes(count: number | undefined): string {
  if (count === undefined || !Number.isFinite(count) || count < 0) return "size not known";
  let step = 0;
  let size = count;
  // 999.9 kB rounds to 1 MB.
  while (step < UNITS.length - 1 && Number(size.toPrecision(3)) >= 1000) {
    size /= 1000;
    step++;
  }
  const unitDisplay = step === 0 ? "long" : "short";
  const unit = UNITS[step] as string;
  return new Intl.NumberFormat("en", {
    ...{ style: "unit", unit, unitDisplay },
    maximumSignificantDigits: 3,
  }).format(size);
}

/** The time of day, with the date unless it is today. */
export function clock(ms: number, now: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "";
  const time = date.toLocaleTimeString("en-GB");
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time}`;
}

const SIZE = /(?:[bB]ytes|[sS]ize|[fF]ree|[hH]eap)$/;

/** A value under its key: moments as times, sizes with units, fractions to six digits. */
export function readable(key: string, value: unknown, now: number): string {
  if (typeof value !== "number") return shown(value);
  if (isMoment(key, value)) return clock(value < 1e11 ? value * 1000 : value, now);
  if (SIZE.test(key) && Number.isInteger(value) && value >= 1000) return bytes(value);
  return Number.isInteger(value) ? shown(value) : rounded(value);
}

/** A value as text. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** `1 device`, `300 devices` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat("en").format(count)} ${count === 1 ? one : many}`;
}

/** A number to six digits. */
function rounded(value: number): string {
  return new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: false }).format(value);
}

/** Whether a number is a time: milliseconds since 1970, or seconds by the key's name. */
function isMoment(key: string, value: number): boolean {
  if (!Number.isInteger(value)) return false;
  if (value >= EARLIEST && value < LATEST) return true;
  return TIMES.test(key) && value >= EARLIEST / 1000 && value < LATEST / 1000;
}

/** True if a chart shows the value. The progress of an update has its own page. */
export function isDrawable(key: string, value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && !/^[fs]w_/.test(key) && !isMoment(key, value);
}
