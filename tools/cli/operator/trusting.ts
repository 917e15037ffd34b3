// A fetch that trusts only given CAs. Node's own takes CAs from its environment only, at its start.
import { request } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** `ca`: PEM. Takes a string or a stream as a body, and follows no redirect. */
export function trusting(ca: string): typeof fetch {
  return (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== "https:") return fetch(url, init);
    const { method = "GET", body, signal } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void =>
        reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
      const outgoing = request(url, { method, headers, ca, ...(signal && { signal }) }, (incoming) => {
        const { statusCode: status = 0, headers: found } = incoming;
        const fields = Object.entries(found).map(
          ([name, value]) => [name, String(value)] as [string, string],
        );
        const isEmpty = status === 204 || status === 205 || status === 304;
        if (isEmpty) incoming.resume();
        resolve(
          new Response(isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream), {
            status,
            headers: fields,
          }),
        );
      });
      outgoing.once("error", fail);
      if (body instanceof ReadableStream) pipeline(Readable.fromWeb(body as never), outgoing).catch(fail);
      else outgoing.end(body ?? undefined);
    });
  };
}
