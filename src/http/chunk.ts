import { hexDigit, isBlank } from "./bytes.js";

const LONGEST = 2 ** 40;
const SEMICOLON = 0x3b;

/** The size that the line of a chunk begins with, or -1. `cut`: the line goes on behind the range. */
export const chunkSize = (bytes: Uint8Array, from: number, to: number, cut: boolean): number => {
  let size = 0;
  let at = from;
  for (let digit = 0; at < to; at++) {
    digit = hexDigit(bytes[at] as number);
    if (digit < 0) break;
    size = size * 16 + digit;
    if (size > LONGEST) break;
  }
  const ends = at === to ? !cut : bytes[at] === SEMICOLON || isBlank(bytes[at]);
  return at > from && ends ? size : -1;
};
