/** Aborted as soon as a line could not be written since nobody reads any more: `mote watch | head -3`. */
export function untilUnread(stream: NodeJS.WritableStream = process.stdout): AbortSignal {
  const left = new AbortController();
  stream.on("error", () => left.abort());
  return left.signal;
}
