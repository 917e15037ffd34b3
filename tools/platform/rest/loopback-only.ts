import type { FastifyRequest } from "fastify";
import { forbidden } from "./context.js";
import { isSameOrigin } from "./host-check.js";

const ADDRESS = /^(?:::1|(?:::ffff:)?127\.[0-9.]+)$/;
const HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

/**
 * Lets only programs of this machine pass. A web page can make a browser of this machine ask too:
 * by its own address (then the Origin is another one) or by a name of its own that leads here (then
 * the Host is no loopback). Throws RestError 403.
 */
export function loopbackOnly({ headers, socket }: FastifyRequest): void {
  const { host = "", origin } = headers;
  const isNear = ADDRESS.test(socket.remoteAddress ?? "") && HOST.test(host);
  const isForwarded = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  const site = headers["sec-fetch-site"] ?? "none";
  const isOwnSite = site === "none" || site === "same-origin";
  if (!isNear || isForwarded || !isSameOrigin(host, origin) || !isOwnSite) throw forbidden();
}
