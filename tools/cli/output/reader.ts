/** Aborts when the reader of standard output is gone: `mote telemetry NAME --follow | head -3`. */
export function untilUnread(stream: NodeJS.WritableStream = process.stdout): AbortSignal {
  const left = new AbortController();
  stream.on("error", () => left.abort());
  return left.signal;
}
