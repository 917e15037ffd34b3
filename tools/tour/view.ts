import type { Model } from "./model.js";

const BAR = 24;
const LABEL = 12;
/** Before a row's value. */
const MARGIN = 2 + LABEL;

/** The live view's lines, each `columns` wide at most. A pure function: `now` is in milliseconds since 1970. */
export function render(model: Model, now: number, columns: number): string[] {
  const lines = [
    row("platform", model.url),
    row("device", model.firmware === "" ? model.device : `${model.device}, firmware ${model.firmware}`),
    row("state", model.state),
    row("delivered", points(model)),
    row(
      "last RPC",
      model.rpc
        ? `${model.rpc.method} #${model.rpc.id} ${model.rpc.outcome}, ${ago(model.rpc.at, now)}`
        : "none",
    ),
    row(
      "attributes",
      model.attributes ? `${changed(model.attributes)}, ${ago(model.attributes.at, now)}` : "no change",
    ),
    row("update", model.update ? progress(model.update, columns - MARGIN) : "none"),
  ];
  if (model.trouble !== "") lines.push(row("note", model.trouble));
  return lines.map((line) => clip(line, columns));
}

/** The model as one line, for an output that is no terminal. */
export function summary(model: Model): string {
  return clip(`${model.state}, ${points(model)}`, 200);
}

/** Text of a device or a platform, made harmless for a terminal: no control characters, `columns` wide at most. */
export function clip(text: string, columns: number): string {
  let line = "";
  let used = 0;
  for (const sign of text) {
    const shown = isSafe(sign) ? sign : "?";
    used += width(shown);
    if (used > columns) return `${cut(line, columns - 1)}…`;
    line += shown;
  }
  return line;
}

/** `[##########--------------]  42 %` */
export function bar(percent: number): string {
  const full = Math.round((within(percent) / 100) * BAR);
  return `[${"#".repeat(full)}${"-".repeat(BAR - full)}] ${figure(percent).padStart(5)}`;
}

const within = (percent: number): number => Math.min(100, Math.max(0, percent));
const figure = (percent: number): string => `${Math.floor(within(percent))} %`;

function row(label: string, value: string): string {
  return `  ${label.padEnd(LABEL)}${value}`;
}

function points({ delivered, dropped }: Model): string {
  const lost = dropped === 0 ? "" : `, ${dropped} dropped`;
  return `${delivered} ${delivered === 1 ? "point" : "points"}${lost}`;
}

function changed({ keys, deleted }: NonNullable<Model["attributes"]>): string {
  // The agent may name what is gone in both lists.
  const set = keys.filter((key) => !deleted.includes(key));
  const parts = [];
  if (set.length > 0) parts.push(`set ${set.join(" ")}`);
  if (deleted.length > 0) parts.push(`deleted ${deleted.join(" ")}`);
  return parts.join(", ") || "changed";
}

/** Where the bar has no room, its figure alone is left. */
function progress({ version, state, percent, error }: NonNullable<Model["update"]>, room: number): string {
  const lead = `${version} ${state.toLowerCase()}`;
  const end = error === undefined ? "" : ` ${error}`;
  if (percent === undefined) return lead + end;
  const whole = `${lead} ${bar(percent)}${end}`;
  return columnsOf(whole) <= room ? whole : `${lead} ${figure(percent)}${end}`;
}

function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
}

/** Controls could steer the terminal; marks of direction could turn the line around. */
function isSafe(sign: string): boolean {
  const code = sign.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  return !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

function cut(line: string, columns: number): string {
  let kept = "";
  let used = 0;
  for (const sign of line) {
    used += width(sign);
    if (used > columns) break;
    kept += sign;
  }
  return kept;
}

/** How many columns `line` takes. */
export function columnsOf(line: string): number {
  let columns = 0;
  for (const sign of line) columns += width(sign);
  return columns;
}

/** Wide signs take two columns; where in doubt, two. */
function width(sign: string): number {
  const code = sign.codePointAt(0) ?? 0;
  return code >= 0x1100 && !(code >= 0x2000 && code <= 0x206f) ? 2 : 1;
}
