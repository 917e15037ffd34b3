import { hostname } from "node:os";
import type { FastifyRequest } from "fastify";
import { forbidden } from "./context.js";

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;
const MACHINE = hostname().toLowerCase();
const NAMES = ["localhost", MACHINE, `${MACHINE}.local`];

/**
 * Lets only requests pass that were made to an address, `localhost` or this machine's name, and, if
 * a page made them, to the page's own origin. Another name is a page elsewhere that had its name
 * lead here: it would act with the well-known logins. Throws RestError 403.
 */
export function checkHost({ headers }: FastifyRequest): void {
  const { host = "", origin } = headers;
  const name = host.replace(/:\d{1,5}$/, "").toLowerCase();
  const isOwn = ADDRESS.test(name) || NAMES.includes(name);
  if (!isOwn || !isSameOrigin(host, origin)) throw forbidden();
}

/** No page made it, or one of the origin that it was made to. */
export function isSameOrigin(host: string, origin: string | undefined): boolean {
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}
