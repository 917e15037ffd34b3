// A server whose CPU time is asked for. `part-server.js platform|bare DEVICES`: the local platform with that many devices, d0 and so on, or a bare Fastify route
// that parses what comes and does nothing with it.
import Fastify from "fastify";
import { startPlatform } from "../../tools/platform/server.js";
import { answerAsPart } from "./parts.js";

const [kind, count] = process.argv.slice(2);

async function platform(): Promise<number> {
  const { core, address } = await startPlatform({ port: 0 });
  const profileId = core.profiles.default.id;
  for (let n = 0; n < Number(count); n++) core.createDevice({ name: `d${n}`, profileId }, `d${n}`);
  return address.port;
}

async function bare(): Promise<number> {
  const app = Fastify({ logger: false, keepAliveTimeout: 60_000 });
  app.post("/api/v1/:token/telemetry", (_request, reply) => reply.send());
  app.get<{ Querystring: { timeout: string } }>("/api/v1/:token/rpc", ({ query }, reply) => {
    setTimeout(() => reply.code(408).header("Connection", "close").send(), Number(query.timeout));
    return reply;
  });
  return Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
}

const port = kind === "bare" ? await bare() : await platform();
/** CPU seconds so far. */
answerAsPart(port, () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
});
