import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { Clock } from "./core/common/clock.js";
import { randomIds } from "./core/common/ids.js";
import { shuffledBy } from "./core/common/order.js";
import { PlatformCore } from "./core/platform.js";
import type { RateLimitSpecs } from "./core/rate-limits.js";
import { DEFAULT_VIEW, type TableView, TableViews } from "./core/reports/table-views.js";
import type { Mode } from "./device/modes.js";
import { DeviceApi } from "./device-api.js";
import { Front } from "./http/front.js";
import { LARGEST_HEAD } from "./http/head.js";
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
  /** As deployed attributes come in no order at all: it is drawn from this. Default 1. */
  seed?: number;
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
  /** As a server that is told to stop: takes no new connection, and resolves when what is open has come to its own end. */
  drain(): Promise<void>;
}

/** Idle connections end after a minute, busy ones after 100 requests: the real server's defaults. */
const KEEP_ALIVE = { idleMs: 60_000, requests: 100 };
const BODY_BYTES = 16_777_216;
export const PROFILE_NAME = "Mote";

/** Starts the stand-in. Rejects with an error that says so when the port is taken. */
export async function startPlatform(options: PlatformServerOptions = {}): Promise<Platform> {
  const { host = "127.0.0.1", port = 8080, log = () => {} } = options;
  const ownClock = new NodeClock();
  const clock = options.clock ?? ownClock;
  const { as, asyncCapMs, requestTimeoutMs, lagMs, rateLimits, behindProxy } = options;
  const core = new PlatformCore({
    clock,
    ...(lagMs !== undefined && { lagMs }),
    ...(as === "deployed" && { order: shuffledBy(options.seed ?? 1) }),
  });
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
  const { app, rest } = createApp();
  const { tlsCert, tlsKey, idleMs = KEEP_ALIVE.idleMs } = options;
  const front = new Front({
    tlsCert,
    tlsKey,
    limits: { idleMs, requests: KEEP_ALIVE.requests },
    rest,
    service: {
      refuse: (request) => api.refuse(request),
      serves: (url) => api.serves(url),
      handle: (request, respond) => api.handle(request, respond),
      now: () => clock.now(),
    },
  });
  const users = new Users(randomIds, clock.now());
  const tokens = new Tokens(users, clock, randomIds);
  const views = new TableViews(options.views ?? [DEFAULT_VIEW]);
  const reports = {
    views,
    pool: { ...POOL_DEFAULTS, ...options.reportPool },
    takesMs: options.reportMs ?? 0,
  };
  restRoutes(app, { core, users, tokens, log: api.log, faults: api.faults }, reports, onError);
  await app.ready();
  await listen(front, host, port);
  const address = { host, port: (front.server.address() as AddressInfo).port };
  const end = async (closed: Promise<void>): Promise<void> => {
    await closed;
    await app.close();
    ownClock.close();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= end(front.close());
    return closing;
  };
  const drain = (): Promise<void> => end(front.drain());
  return { url: urlOf(options, address), address, profile, core, api, views, close, drain };
}

/** The operator's API. It reads no sockets itself: the device API needs the bytes as they came, and so the front has them all. */
function createApp(): { app: FastifyInstance; rest: Server } {
  let rest: Server | undefined;
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    routerOptions: { maxParamLength: 1_000 },
    serverFactory: (listener) => {
      // Connections end by the front's own times.
      rest = createServer(
        { maxHeaderSize: 2 * LARGEST_HEAD, keepAliveTimeout: 0, requestTimeout: 0 },
        listener,
      );
      return rest;
    },
  });
  return { app, rest: rest as Server };
}

async function listen(front: Front, host: string, port: number): Promise<void> {
  try {
    await front.listen(host, port);
  } catch (error) {
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
