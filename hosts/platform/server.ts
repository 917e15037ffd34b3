import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { Clock } from "./core/clock.js";
import { randomIds } from "./core/ids.js";
import { PlatformCore } from "./core/platform.js";
import type { RateLimitSpecs } from "./core/rate-limits.js";
import { DEFAULT_VIEW, type TableView, TableViews } from "./core/table-views.js";
import { HTML_400 } from "./device/messages.js";
import type { Mode } from "./device/modes.js";
import { DeviceApi } from "./device-api.js";
import { serveDevice } from "./device-http.js";
import { NodeClock } from "./node-clock.js";
import { restRoutes } from "./rest/rest.js";
import { Tokens } from "./rest/tokens.js";
import { Users } from "./rest/users.js";
import { POOL_DEFAULTS, type PoolLimits } from "./rest/worker-pool.js";

export interface PlatformServerOptions {
  /** 0: any free one. Default 8080. */
  port?: number;
  /** Address to listen on. Default 127.0.0.1: nobody else can reach it. */
  host?: string;
  /** Statuses as in the documentation, or as the real server sends them. Default `documented`. */
  as?: Mode;
  /** Certificate and key as PEM text: https in place of http. Both or none. */
  tlsCert?: string;
  tlsKey?: string;
  /** Provisioning key and secret of the profile that devices may create themselves with. Default: random ones. */
  profile?: { key: string; secret: string };
  /** When a device's open request ends with 503, in milliseconds. Default: 30,000 as deployed, never as documented; 300,000 behind a proxy. */
  asyncCapMs?: number;
  /** When a device's open request ends with 408 if it doesn't say itself, in milliseconds. Default 60,000. */
  requestTimeoutMs?: number;
  /** How long after the 200 a device's data is stored, in milliseconds. Default 0. */
  lagMs?: number;
  /** What devices may send: `{"device-points":"100:1,3000:60"}`. Default: anything. */
  rateLimits?: RateLimitSpecs;
  /** As behind the proxy that the platform is shipped with: what is open for 50 s ends with 504. Default false. */
  behindProxy?: boolean;
  /** The table views of the report API. Default: one over all devices. */
  views?: readonly TableView[];
  /** How many reports run and how many wait. Default: 10 and 10. */
  reportPool?: Partial<PoolLimits>;
  /** How long a report takes at least, in milliseconds. Default 0. */
  reportMs?: number;
  /** When a connection on which nothing goes on is closed, in milliseconds. Default 60,000. */
  idleMs?: number;
  /** Default: the machine's. */
  clock?: Clock;
  /** Told, in a line without secrets, of faults of the stand-in's own. Default: nobody. */
  log?: (line: string) => void;
}

export interface Platform {
  /** Without a slash at the end: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
  readonly profile: { readonly key: string; readonly secret: string };
  /** The platform itself, for tests that look inside. */
  readonly core: PlatformCore;
  readonly api: DeviceApi;
  readonly views: TableViews;
  /** Ends open polls at once; resolves when the port is free. */
  close(): Promise<void>;
}

/** Idle connections end after a minute, busy ones after 100 requests: the real server's defaults. */
const KEEP_ALIVE = { idleMs: 60_000, requests: 100 };
const HEAD_BYTES = 8_192;
const BODY_BYTES = 16_777_216;
export const PROFILE_NAME = "Mote";

/** Starts the stand-in. Rejects with an error that says so when the port is taken. */
export async function startPlatform(options: PlatformServerOptions = {}): Promise<Platform> {
  const { host = "127.0.0.1", port = 8080, log = () => {} } = options;
  const ownClock = new NodeClock();
  const clock = options.clock ?? ownClock;
  const { as, asyncCapMs, requestTimeoutMs, lagMs, rateLimits, behindProxy } = options;
  const core = new PlatformCore({ clock, ...(lagMs !== undefined && { lagMs }) });
  const onError = (error: unknown): void =>
    log(`fault in the stand-in: ${error instanceof Error ? error.stack : error}`);
  const api = new DeviceApi({
    core,
    onError,
    ...(as !== undefined && { as }),
    ...(asyncCapMs !== undefined && { asyncCapMs }),
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
    ...(rateLimits && { rateLimits }),
    ...(behindProxy !== undefined && { behindProxy }),
  });
  const profile = options.profile ?? { key: randomIds.token(20), secret: randomIds.token(20) };
  core.profiles.create({
    name: PROFILE_NAME,
    strategy: "ALLOW_CREATE_NEW_DEVICES",
    provisionKey: profile.key,
    provisionSecret: profile.secret,
  });
  const { app, server } = createApp(api, options);
  const users = new Users(randomIds, clock.now());
  const tokens = new Tokens(users, clock, randomIds);
  const views = new TableViews(options.views ?? [DEFAULT_VIEW]);
  const reports = {
    views,
    pool: { ...POOL_DEFAULTS, ...options.reportPool },
    takesMs: options.reportMs ?? 0,
  };
  restRoutes(app, { core, users, tokens, log: api.log, faults: api.faults }, reports, onError);
  await listen(app, host, port);
  const address = { host, port: (server.address() as AddressInfo).port };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= app.close().then(() => ownClock.close());
    return closing;
  };
  return { url: urlOf(options, address), address, profile, core, api, views, close };
}

/** One server: the device API goes past Fastify, because it needs the bytes as they came and the answers as they are. */
function createApp(
  api: DeviceApi,
  { tlsCert, tlsKey, idleMs = KEEP_ALIVE.idleMs }: PlatformServerOptions,
): { app: FastifyInstance; server: Server } {
  let server: Server | undefined;
  const served = new WeakMap<Socket, number>();
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    forceCloseConnections: true,
    clientErrorHandler: (_error, socket) => refuse(socket),
    routerOptions: { maxParamLength: 1_000 },
    serverFactory: (rest) => {
      const listener: RequestListener = (request, reply) => {
        // Node's own limit announces the end of the connection, and leaves it open.
        const count = (served.get(request.socket) ?? 0) + 1;
        served.set(request.socket, count);
        if (count > KEEP_ALIVE.requests) return;
        if (count === KEEP_ALIVE.requests) reply.shouldKeepAlive = false;
        if (api.serves(request.url ?? "")) serveDevice(api, request, reply);
        else rest(request, reply);
      };
      const limits = { maxHeaderSize: HEAD_BYTES, keepAliveTimeout: idleMs };
      server =
        tlsCert !== undefined && tlsKey !== undefined
          ? createTlsServer({ ...limits, cert: tlsCert, key: tlsKey }, listener)
          : createServer(limits, listener);
      // Newer versions of Node add a second to what was asked for.
      Object.assign(server, { keepAliveTimeoutBuffer: 0 });
      return server;
    },
  });
  return { app, server: server as Server };
}

/** A request that is no HTTP: the real server's web layer answers in HTML. */
function refuse(socket: Socket): void {
  if (!socket.writable) return;
  const head = `HTTP/1.1 400 \r\nContent-Type: text/html;charset=utf-8\r\nContent-Language: en\r\nContent-Length: ${Buffer.byteLength(HTML_400)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + HTML_400, () => socket.destroy());
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new Error(`port ${port} of ${host} is in use: choose another one, or stop what listens there`, {
        cause: error,
      });
    const why = CANNOT_LISTEN[code ?? ""];
    if (why !== undefined)
      throw new Error(`can't listen on port ${port} of ${host}: ${why}`, { cause: error });
    throw error;
  }
}

const CANNOT_LISTEN: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such name",
  EAI_AGAIN: "there is no such name",
  EACCES: "ports below 1024 are for the administrator",
  EINVAL: "that is no address to listen on",
};

function urlOf({ tlsCert }: PlatformServerOptions, { host, port }: Platform["address"]): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return `${tlsCert === undefined ? "http" : "https"}://${shown}:${port}`;
}
