import { accepts } from "../spring/media-type.js";
import { READABLE } from "./body.js";
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

const CONTROLLER =
  "public org.springframework.web.context.request.async.DeferredResult<org.springframework.http.ResponseEntity> org.thingsboard.server.transport.http.DeviceApiController";

/** Answers a request that found its route and is wrong all the same, before its token is looked at. Whether it did. */
export function refuses(exchange: Exchange, route: Route): boolean {
  const { accepted } = exchange;
  if (route.producesJson && !(accepted && accepts(accepted, "application/json"))) {
    exchange.answerError(406, "No acceptable representation", { Accept: "application/json" });
    return true;
  }
  const wrong = route.bind?.(exchange);
  if (wrong !== undefined) {
    exchange.answerError(400, wrong);
    return true;
  }
  return route.body !== undefined && refusesBody(exchange, route);
}

function refusesBody(exchange: Exchange, { body, method = "" }: Route): boolean {
  const read = exchange.body;
  if (read.kind === "unreadable") exchange.answerError(415, read.message, { Accept: READABLE });
  else if (read.kind === "fault") exchange.answerFault(500, read.message);
  else if (read.text === "" && body === "needed")
    exchange.answerError(400, `Required request body is missing: ${CONTROLLER}.${method}`);
  else return false;
  return true;
}
