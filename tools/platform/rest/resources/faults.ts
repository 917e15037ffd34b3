import type { FastifyInstance } from "fastify";
import { readPost } from "../../faults/shapes.js";
import type { RestContext } from "../context.js";
import { RestError } from "../error.js";
import { objectBody } from "../input.js";
import { loopbackOnly } from "../loopback-only.js";

/**
 * The local platform's own: faults of the device API (their JSON is described in faults/shapes.ts).
 * Needs no login; for this machine only.
 */
export function faultRoutes(app: FastifyInstance, { faults }: RestContext): void {
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
