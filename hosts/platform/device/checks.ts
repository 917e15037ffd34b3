import type { Exchange } from "./exchange.js";
import type { Methods, Route } from "./routes.js";

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const JSON_RANGE =
  /(?:^|,)\s*(?:\*\/\*|application\/\*|application\/json|application\/[\w.]+\+json)\s*(?:;|,|$)/;

/** HEAD is served like GET: it takes an RPC with it, too. */
export function pick(methods: Methods, method: string): Route | undefined {
  if (method === "GET" || method === "HEAD") return methods.GET;
  return method === "POST" ? methods.POST : undefined;
}

/** For the Allow header. */
export function allowed({ GET, POST }: Methods): string {
  return [GET && "GET,HEAD", POST && "POST"].filter((name) => name !== undefined).join(",");
}

/** What is wrong with a request that found its route, before its token is looked at. */
export function problemOf(exchange: Exchange, route: Route): [status: number, message: string] | undefined {
  const { headers, body } = exchange.request;
  const { accept } = headers;
  if (route.producesJson && accept && !JSON_RANGE.test(accept)) return [406, "No acceptable representation"];
  const type = headers["content-type"];
  if (route.needsBody && type && !MEDIA_TYPE.test(type))
    return [415, `Content-Type '${type.slice(0, 100)}' is not supported`];
  const wrong = route.bind?.(exchange);
  if (wrong !== undefined) return [400, wrong];
  if (route.needsBody && body.length === 0)
    return [400, "Required request body is missing: java.lang.String"];
  return undefined;
}
