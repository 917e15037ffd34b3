import type { FastifyError, FastifyInstance } from "fastify";
import { errorJson, VARY } from "../device/messages.js";
import { authRoutes } from "./auth.js";
import type { RestContext } from "./context.js";
import { errorBody, RestError, toRestError } from "./error.js";
import { checkHost } from "./host-check.js";
import { consoleRoutes } from "./resources/console.js";
import { deviceRoutes } from "./resources/devices.js";
import { entityRoutes } from "./resources/entities.js";
import { faultRoutes } from "./resources/faults.js";
import { otaRoutes } from "./resources/ota.js";
import { profileRoutes } from "./resources/profiles.js";
import { rpcRoutes } from "./resources/rpc.js";
import { attributeRoutes } from "./resources/telemetry.js";
import { timeseriesRoutes } from "./resources/timeseries.js";

/** As the real server sends them with its own errors. */
const HEADERS = {
  Vary: VARY,
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache, no-store, max-age=0, must-revalidate",
  Pragma: "no-cache",
  Expires: "0",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "strict-origin-when-cross-origin",
};

/** The operator's API. `onError` gets internal errors; their caller gets a 500. */
export function restRoutes(
  app: FastifyInstance,
  context: RestContext,
  onError: (error: unknown) => void,
): void {
  const now = (): number => context.core.clock.now();
  app.removeAllContentTypeParsers();
  // Bodies stay text: how a number is spelt decides on its type.
  app.addContentTypeParser(
    ["application/json", "text/plain"],
    { parseAs: "string" },
    (_request, text, done) => done(null, text),
  );
  app.setErrorHandler(async (error: Error | FastifyError, _request, reply) => {
    const known = toRestError(error);
    if (!known) onError(error);
    const { status } = known ?? { status: 500 };
    if (status === 401) reply.headers(HEADERS).type("application/json;charset=ISO-8859-1");
    return reply.code(status).send(errorBody(known ?? new RestError(500, "Internal error"), now()));
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split("?", 1)[0]?.slice(1) ?? "";
    if (path.startsWith("api/")) {
      return reply.code(404).send(errorBody(new RestError(404, `No static resource ${path}.`), now()));
    }
    // A server without a page of its own: it looks for one wherever it is asked.
    const resource = /^[^/]*\./.test(path) ? path : "index.html";
    const body = errorJson(404, `No static resource ${resource}.`, now());
    reply.hijack();
    reply.raw.writeHead(404, {
      ...HEADERS,
      "Content-Type": "application/json;charset=UTF-8",
      "Content-Language": "en",
    });
    reply.raw.write(body);
    reply.raw.end();
  });
  app.addHook("onRequest", async (request) => checkHost(request));
  authRoutes(app, context);
  deviceRoutes(app, context);
  profileRoutes(app, context);
  entityRoutes(app, context);
  attributeRoutes(app, context);
  timeseriesRoutes(app, context);
  rpcRoutes(app, context);
  otaRoutes(app, context);
  faultRoutes(app, context);
  consoleRoutes(app);
}
