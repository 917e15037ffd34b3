// A fetch that trusts only given CAs. Node's own takes CAs from its environment only, at its start.
import { request } from "node:https";
import { Readable } from "node:stream";

/** `ca`: PEM. Follows no redirect. */
export function trusting(ca: string): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const url = new URL(asked.url);
    if (url.protocol !== "https:") return fetch(asked);
    const { method, signal } = asked;
    const body = Buffer.from(await asked.arrayBuffer());
    const headers = Object.fromEntries(asked.headers);
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void =>
        reject(signal.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
      const outgoing = request(url, { method, headers, ca, signal }, (incoming) => {
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
      outgoing.end(body);
    });
  };
}
