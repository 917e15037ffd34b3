// A request with any headers, which `fetch` would not send.
import { request } from "node:http";

export interface RawRequest {
  readonly host: string;
  readonly port: number | string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends it on a connection of its own. Resolves when the answer is complete. */
export function rawRequest({ body, ...options }: RawRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, agent: false }, async (answer) => {
      const text = (await answer.setEncoding("utf8").toArray()).join("");
      resolve({ status: answer.statusCode ?? 0, text });
    });
    sent.on("error", reject).end(body);
  });
}
