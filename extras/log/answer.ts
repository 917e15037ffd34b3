// The answer of `mote.log`: as many lines as fit.
import type { Redactor } from "../../src/port.js";
import { LEVELS, type LogRequest } from "./request.js";
import type { KeptLine, Ring } from "./ring.js";
import type { LogAnswer, LogHost } from "./types.js";

/** Bytes of a line besides its text: brackets, quotes, commas, number, uptime, level. */
const AROUND = 34;

/** The part of the host that converts text. */
type Encoding = Pick<LogHost, "encode" | "decode">;
type Changing<T> = { -readonly [Key in keyof T]: T[Key] };
export type Row = LogAnswer["lines"][number];
export type Draft = Changing<Omit<LogAnswer, "lines">> & { lines: Row[] };

/** Fills in the members that depend on the ring. */
export const gather = (
  host: Encoding,
  ring: Ring,
  request: LogRequest,
  answer: Draft,
  clean: (lines: readonly Row[]) => Row[],
): void => {
  const { since, bytes } = request;
  const tooLarge = (): boolean => host.encode(JSON.stringify(answer)).length > bytes;
  // The numbers belong to another ring.
  const after = since === undefined || since >= ring.next ? ring.first - 1 : since;
  const { id, first } = ring;
  Object.assign(answer, { lost: Math.max(0, first - 1 - after), since: ring.next - 1 });
  // Reserve their maximum length, because the size is checked with them.
  answer.log = "00000000";
  if (since === undefined) newest(host, ring, request, answer);
  else oldest(host, ring, after, request, answer);
  // The lines are damaged, so their identity is unknown.
  if (ring.id !== id) Object.assign(answer, { lines: [], since: ring.next - 1, more: false });
  answer.log = ring.id.toString(16).padStart(8, "0");
  answer.lines = clean(answer.lines);
  while (answer.lines.length > 1 && tooLarge()) {
    if (since === undefined) answer.lines.shift();
    else answer.lines.pop();
    if (since !== undefined) Object.assign(answer, { more: true, since: answer.lines.at(-1)![0] });
  }
  // Shorten a single line; otherwise a follower would request it forever.
  while (answer.lines.length === 1 && tooLarge()) answer.lines = [halved(answer.lines[0]!)];
};

/** The lines, without secrets that became known after a line was stored. */
export const cleaned = (redactor: Redactor, lines: readonly Row[]): Row[] =>
  lines.map(([number, uptime, level, text]) => [number, uptime, level, redactor.clean(text)]);

const newest = (host: Encoding, ring: Ring, { level, bytes }: LogRequest, answer: Draft): void => {
  let size = 0;
  const wanted = (line: KeptLine): boolean => line.level >= level;
  ring.read(ring.first, (line) => {
    if (wanted(line)) size += line.text.length + AROUND;
    return true;
  });
  ring.read(ring.first, (line) => {
    if (!wanted(line)) return true;
    if (size <= bytes) answer.lines.push(rowOf(host, line));
    else size -= line.text.length + AROUND;
    return true;
  });
};

const oldest = (
  host: Encoding,
  ring: Ring,
  after: number,
  { level, bytes }: LogRequest,
  answer: Draft,
): void => {
  let size = 0;
  ring.read(after + 1, (line) => {
    if (line.level < level) return true;
    size += line.text.length + AROUND;
    answer.more = size > bytes && answer.lines.length > 0;
    if (answer.more) answer.since = answer.lines.at(-1)![0];
    else answer.lines.push(rowOf(host, line));
    return !answer.more;
  });
};

const rowOf = (host: Encoding, { number, tenths, level, text }: KeptLine): Row => [
  number,
  tenths / 10,
  LEVELS[level] ?? LEVELS[0],
  host.decode(text) ?? "",
];

/**
 * Cuts without a list of characters, for which a board has no memory. Removes half a character at
 * the end.
 */
const halved = ([number, uptime, level, text]: Row): Row => {
  const half = text.slice(0, text.length >> 1);
  const last = half.charCodeAt(half.length - 1);
  return [number, uptime, level, last >= 0xd800 && last < 0xdc00 ? half.slice(0, -1) : half];
};
