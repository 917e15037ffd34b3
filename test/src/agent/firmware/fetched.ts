// Counts the bytes of images that a device read from its connections, whatever became of the rest of the answer.
const REQUEST = /^GET \S+(?:\/firmware|\.bin)\?/;
const HANDED = /^HTTP\/1\.1 20[06] /;
const END_OF_HEAD = "\r\n\r\n";

export class Fetched {
  bytes = 0;

  /** For one connection: notified of what is written to it and read from it. */
  connection(): { wrote(bytes: Uint8Array): void; read(bytes: Uint8Array): void } {
    let head: string | undefined;
    let body = false;
    return {
      wrote: (bytes) => {
        body = false;
        head = REQUEST.test(Buffer.from(bytes).toString("latin1")) ? "" : undefined;
      },
      read: (bytes) => {
        if (body) this.bytes += bytes.length;
        if (head === undefined || body) return;
        head += Buffer.from(bytes).toString("latin1");
        const end = head.indexOf(END_OF_HEAD);
        if (end < 0) return;
        body = HANDED.test(head);
        if (body) this.bytes += head.length - end - END_OF_HEAD.length;
        head = undefined;
      },
    };
  }
}
