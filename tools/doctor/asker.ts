// Requests to the device API, each on a new connection, so that its set-up is measured.
import { type RequestOptions, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import type { Answer, Ask } from "./platform.js";

const PATIENCE_MS = 15_000;
const LARGEST = 65_536;

/** `ca`: PEM, in place of the authorities that Node brings. */
export function asker(baseUrl: string, token: string, ca: string | undefined): Ask {
  const base = baseUrl.replace(/\/+$/, "");
  return (method, path, body, patienceMs = PATIENCE_MS) =>
    new Promise((resolve) => {
      const began = performance.now();
      const url = new URL(`${base}/api/v1/${encodeURIComponent(token)}/${path}`);
      // For all of it: who sends a byte now and then is no better than who sends none.
      const signal = AbortSignal.timeout(patienceMs);
      const options: RequestOptions & { ca?: string } = { method, agent: false, signal };
      if (ca !== undefined) options.ca = ca;
      if (body !== undefined) options.headers = { "content-type": "application/json" };
      const request = (url.protocol === "https:" ? requestTls : requestPlain)(url, options, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          if (text.length < LARGEST) text += piece;
        });
        response.once("end", () => {
          const { statusCode: status = 0, headers } = response;
          const date = headers.date === undefined ? undefined : Date.parse(headers.date);
          const tookMs = performance.now() - began;
          const { location } = headers;
          resolve({
            status,
            text,
            location,
            date: Number.isNaN(date) ? undefined : date,
            tookMs,
          } satisfies Answer);
        });
        response.once("error", () => resolve(undefined));
      });
      request.once("error", () => resolve(undefined));
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
}
