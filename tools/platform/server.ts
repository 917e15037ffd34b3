import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { randomIds } from "./core/common/ids.js";
import type { PlatformCore } from "./core/platform.js";
import { DeviceApi } from "./device-api.js";
import { HttpServer } from "./http-server.js";
import { NodeClock } from "./node-clock.js";
import type { PlatformServerOptions } from "./options.js";
import { createCore, openIdentity, openProfile, openState } from "./parts.js";
import { restRoutes } from "./rest/rest.js";
import { Tokens } from "./rest/tokens.js";
import { Users } from "./rest/users.js";

export type { PlatformServerOptions };

export interface Platform {
  /** `http://127.0.0.1:8080`, without a slash at the end. */
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
  readonly profile: { readonly key: string; readonly secret: string };
  /** For tests. */
  readonly core: PlatformCore;
  readonly api: DeviceApi;
  /** Ends open polls at once; resolves when the port is free. */
  close(): Promise<void>;
  /** Takes no new connections and resolves when all open requests have ended. */
  drain(): Promise<void>;
}

const BODY_BYTES = 16_777_216;
/** A server closes a connection that has been idle for so long. */
const IDLE_MS = 60_000;

/** Rejects with an Error for people if the port is in use, or the state is unreadable. */
export async function startPlatform(options: PlatformServerOptions = {}): Promise<Platform> {
  const { host = "127.0.0.1", port = 8080, log = () => {} } = options;
  const ownClock = new NodeClock();
  const clock = options.clock ?? ownClock;
  const state = openState(options, () => void close());
  const core = createCore(clock, state);
  const onError = (error: unknown): void =>
    log(`fault in the local platform: ${error instanceof Error ? error.stack : error}`);
  const api = new DeviceApi({ ...options, core, onError });
  const profile = openProfile(core, options.profile);
  const { tlsCert, tlsKey, idleMs = IDLE_MS } = options;
  let http: HttpServer | undefined;
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_000 },
    serverFactory: (listener) => {
      http = new HttpServer({ tlsCert, tlsKey, idleMs, api, now: () => clock.now(), listener });
      return http.server;
    },
  });
  const identity = openIdentity(state, randomIds, clock.now());
  const users = new Users(identity, options.adminPassword);
  const tokens = new Tokens(users, Buffer.from(identity.tokenKey, "base64"), clock, randomIds);
  restRoutes(app, { core, users, tokens, log: api.log, faults: api.faults }, onError);
  try {
    await listen(app, host, port);
  } catch (error) {
    state?.close();
    throw error;
  }
  const address = { host, port: (app.server.address() as AddressInfo).port };
  const end = async (closed: Promise<void>): Promise<void> => {
    await closed;
    ownClock.close();
    // When a device was last heard of is kept at the end alone.
    for (const device of core.devices.list()) core.devices.save(device);
    state?.close();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= end(app.close());
    app.server.closeAllConnections();
    return closing;
  };
  const drain = (): Promise<void> => {
    http?.drain();
    closing ??= end(app.close());
    return closing;
  };
  return { url: urlOf(options, address), address, profile, core, api, close, drain };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new Error(
        `port ${port} of ${host} is in use: choose another port, or stop the program that uses it`,
        { cause: error },
      );
    const why = CANNOT_LISTEN[code ?? ""];
    throw why === undefined
      ? error
      : new Error(`cannot listen on port ${port} of ${host}: ${why}`, { cause: error });
  }
}

const CANNOT_LISTEN: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "this machine does not have that address",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "unknown host name",
  EACCES: "ports below 1024 require administrator rights",
  EINVAL: "not an address to listen on (a link-local address needs its interface: fe80::1%eth0)",
};

function urlOf({ tlsCert }: PlatformServerOptions, { host, port }: Platform["address"]): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return `${tlsCert === undefined ? "http" : "https"}://${shown}:${port}`;
}
