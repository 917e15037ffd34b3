import type { FastifyInstance } from "fastify";
import { asTenant, type RestContext } from "../context.js";

/**
 * The local platform's own route: the last requests of devices, oldest first. A real platform has
 * none.
 */
export function requestRoutes(app: FastifyInstance, { log }: RestContext): void {
  app.get("/api/requests", async (request) => {
    asTenant(request);
    return log.list();
  });
}
