// The local platform's own, for its console: what happens, as server-sent events
// (text/event-stream). Not of the real platform.
//
//   event: telemetry   data: {"deviceId":"7c5e…","ts":1700000000000,"values":{"temperature":21.5}}
//   event: attributes  data: {"deviceId":"7c5e…","scope":"SHARED_SCOPE"}
//   event: rpc         data: {"deviceId":"7c5e…","rpcId":"1f0a…","status":"SUCCESSFUL"}
//   event: device      data: {"deviceId":"7c5e…"}
//   event: request     data: as in GET /api/requests
//
// A line with a colon alone comes every 15 s; in its place the stream ends when its token has. Who
// reads too slowly is cut off, comes back and asks again.

import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Happening } from "../../core/feed.js";
import { valueJson } from "../../core/values.js";
import { type RestContext, TENANT } from "../context.js";
import { RestError } from "../error.js";
import { bearer } from "../tokens.js";

const MOST = 50;
const BEAT_MS = 15_000;
const MOST_BEHIND = 1_048_576;

export function eventRoutes(app: FastifyInstance, { core, log, tokens }: RestContext): void {
  const open = new Set<ServerResponse>();
  app.get("/api/console/events", TENANT, (request, reply) => {
    if (open.size >= MOST) throw new RestError(429, "Too many consoles are open");
    const { raw } = reply;
    reply.hijack();
    const isIn = (): boolean => {
      try {
        tokens.user(bearer(request) ?? "");
        return true;
      } catch {
        return false;
      }
    };
    raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const send = (text: string): void => {
      if (raw.writableLength > MOST_BEHIND) raw.destroy();
      else raw.write(text);
    };
    send(":\n\n");
    let beat = (): void => {};
    const again = (): void => {
      beat = core.clock.timer(BEAT_MS, () => {
        if (!isIn()) {
          raw.end();
          return;
        }
        send(":\n\n");
        again();
      });
    };
    again();
    const ends = [
      core.feed.listen((what) => send(`event: ${what.kind}\ndata: ${dataOf(what)}\n\n`)),
      log.feed.listen((entry) => send(`event: request\ndata: ${JSON.stringify(entry)}\n\n`)),
    ];
    open.add(raw);
    raw.once("close", () => {
      open.delete(raw);
      beat();
      for (const end of ends) end();
    });
  });
}

/** One line: JSON text holds no line end. */
function dataOf(what: Happening): string {
  if (what.kind !== "telemetry") {
    const { kind: _, ...rest } = what;
    return JSON.stringify(rest);
  }
  const members = what.values.map(([key, value]) => `${JSON.stringify(key)}:${valueJson(value)}`);
  return `{"deviceId":"${what.deviceId}","ts":${what.ts},"values":{${members.join(",")}}}`;
}
