import type { FastifyInstance } from "fastify";
import { readPost } from "../../faults/shapes.js";
import { type RestContext, TENANT } from "../context.js";
import { RestError } from "../error.js";
import { objectBody } from "../input.js";
import { loopbackOnly } from "../loopback-only.js";

/**
 * Routes that only the local platform has: the last requests of devices, and faults of the device
 * API (faults/shapes.ts describes their JSON). Faults need no login, but this machine.
 */
export function faultRoutes(app: FastifyInstance, { faults, log }: RestContext): void {
  app.get("/api/requests", TENANT, async () => log.list());

  app.get("/api/faults", async (request) => {
    loopbackOnly(request);
    return { faults: faults.list() };
  });

  app.post("/api/faults", async (request) => {
    loopbackOnly(request);
    // A page may send text anywhere without being asked.
    if (!/^application\/json(?:;|$)/i.test(request.headers["content-type"] ?? ""))
      throw new RestError(415, "Content-Type is not supported");
    faults.add(readPost(objectBody(request)));
    return { faults: faults.list() };
  });

  app.delete("/api/faults", async (request, reply) => {
    loopbackOnly(request);
    faults.clear();
    return reply.send();
  });
}
