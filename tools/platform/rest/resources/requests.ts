import type { FastifyInstance } from "fastify";
import type { RestContext } from "../context.js";
import { forThisMachine } from "../this-machine.js";

/** The local platform's own: the last requests of devices, oldest first. Not of the real platform; for this machine only. */
export function requestRoutes(app: FastifyInstance, { log }: RestContext): void {
  app.get("/api/requests", async (request) => {
    forThisMachine(request);
    return log.list();
  });
}
