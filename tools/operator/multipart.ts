// A form with one file, as a stream: what fetch sends of it is counted, which its own FormData does not allow.

const PIECE = 64 * 1024;

export interface FileForm {
  readonly type: string;
  readonly body: ReadableStream<Uint8Array>;
}

/** `onSent` is called with the bytes of the file handed to the connection so far. */
export function fileForm(
  name: string,
  fileName: string,
  bytes: Uint8Array,
  onSent: (bytes: number) => void,
): FileForm {
  const boundary = `mote-${crypto.getRandomValues(new BigUint64Array(1))[0]}`;
  const encoder = new TextEncoder();
  const quoted = fileName.replace(/["\r\n\\]/g, "_");
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  let at = -1;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at < 0) {
          controller.enqueue(encoder.encode(head));
          at = 0;
        } else if (at < bytes.length) {
          controller.enqueue(bytes.slice(at, at + PIECE));
          at = Math.min(bytes.length, at + PIECE);
          onSent(at);
        } else {
          controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`));
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}
