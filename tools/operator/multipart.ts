// A form with one file, as a stream that reports progress, which fetch does not.

export interface FileForm {
  readonly type: string;
  readonly body: ReadableStream<Uint8Array>;
}

/** Calls `onSent` with the bytes handed to the connection so far. */
export function fileForm(
  name: string,
  fileName: string,
  bytes: Uint8Array,
  onSent: (bytes: number) => void,
): FileForm {
  const form = new FormData();
  form.append(
    name,
    new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/octet-stream" }),
    fileName,
  );
  const { headers, body } = new Response(form);
  let sent = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      controller.enqueue(piece);
      sent = Math.min(bytes.length, sent + piece.length);
      onSent(sent);
    },
  });
  return { type: headers.get("content-type") ?? "", body: body!.pipeThrough(count) };
}
