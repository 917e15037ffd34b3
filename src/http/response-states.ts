// How an answer is read, piece by piece.

// What each state takes: a line, or the bytes of a body; `left` of them, and `next` follows. `head`: counts towards HEAD_BYTES.
export const STATES = {
  status: { line: true, head: true },
  fields: { line: true, head: true },
  length: { line: false, next: "whole" },
  close: { line: false, next: "close" },
  size: { line: true, head: false },
  chunk: { line: false, next: "chunkEnd" },
  chunkEnd: { line: true, head: false },
  trailer: { line: true, head: true },
  whole: undefined,
  failed: undefined,
} as const;

export type State = keyof typeof STATES;
