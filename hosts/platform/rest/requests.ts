import type { FastifyInstance } from "fastify";
import { forbidden, type RestContext } from "./context.js";

const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.[0-9.]+)$/;

/** The stand-in's own: the last requests of devices, oldest first. Not of the real platform; for this machine only. */
export function requestRoutes(app: FastifyInstance, { log }: RestContext): void {
  app.get("/api/requests", async (request) => {
    if (!LOOPBACK.test(request.socket.remoteAddress ?? "")) throw forbidden();
    return log.list();
  });
}
