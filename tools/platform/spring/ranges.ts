// The Range header as the platform's framework (Spring) reads it.

export interface ByteRange {
  readonly from: number;
  /** Included. */
  readonly to: number;
}

const MOST = 100;
const RANGE = /^(\d{1,18})-(\d{1,18})?$|^-(\d{1,18})$/;

/** Undefined if the header can't be read, or asks for what isn't there. */
export function rangesOf(header: string, length: number): ByteRange[] | undefined {
  if (!header.startsWith("bytes=")) return undefined;
  const parts = header
    .slice("bytes=".length)
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (parts.length > MOST) return undefined;
  const ranges: ByteRange[] = [];
  for (const part of parts) {
    const range = rangeOf(part, length);
    if (!range) return undefined;
    ranges.push(range);
  }
  const sum = ranges.reduce((bytes, { from, to }) => bytes + to - from + 1, 0);
  return ranges.length > 1 && sum >= length ? undefined : ranges;
}

function rangeOf(text: string, length: number): ByteRange | undefined {
  const [, first, last, suffix] = RANGE.exec(text) ?? [];
  if (suffix !== undefined) {
    const count = Math.min(Number(suffix), length);
    return count > 0 ? { from: length - count, to: length - 1 } : undefined;
  }
  if (first === undefined) return undefined;
  const from = Number(first);
  if (from >= length || (last !== undefined && Number(last) < from)) return undefined;
  return { from, to: last === undefined ? length - 1 : Math.min(Number(last), length - 1) };
}
