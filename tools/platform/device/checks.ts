import type { Exchange } from "./exchange.js";
import type { Methods, Route } from "./routes.js";

/** HEAD is served like GET: it takes an RPC with it, too. */
export function pick(methods: Methods, method: string): Route | undefined {
  if (method === "GET" || method === "HEAD") return methods.GET;
  return method === "POST" ? methods.POST : undefined;
}

/** For the Allow header. */
export function allowed({ GET, POST }: Methods): string {
  return [GET && "GET", POST && "POST"].filter((name) => name !== undefined).join(", ");
}

/**
 * Answers a request that found its route and is wrong all the same, before its token is looked at.
 * Whether it did.
 */
export function refuses(exchange: Exchange, { bind, needsBody = false }: Route): boolean {
  const wrong =
    bind?.(exchange) ?? (needsBody && exchange.text === "" ? "Required request body is missing" : undefined);
  if (wrong !== undefined) exchange.answerError(400, wrong);
  return wrong !== undefined;
}
