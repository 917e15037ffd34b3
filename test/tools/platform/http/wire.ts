// A started local platform, spoken to in bytes over sockets of the test's own, on a clock that the test moves by hand. The operator goes over REST.
import { connect } from "node:net";
import type { ExecutionContext } from "ava";
import { Operator } from "../../../../tools/operator/operator.js";
import type { Device } from "../../../../tools/platform/core/devices.js";
import { MODES, type Mode } from "../../../../tools/platform/device/modes.js";
import {
  type Platform,
  type PlatformServerOptions,
  startPlatform,
} from "../../../../tools/platform/server.js";
import { TOKEN, VirtualClock } from "../rig.js";

export { TOKEN };
export const BOTH = Object.keys(MODES) as Mode[];
export const DEPLOYED: readonly Mode[] = ["deployed"];

export interface Answer {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  text: string;
  /** Whether the platform ended the connection after it. */
  closed: boolean;
}

/** A request that the platform has and holds. */
export interface Held {
  answer: Promise<Answer>;
  hangUp(): void;
}

export interface Wire {
  as: Mode;
  platform: Platform;
  clock: VirtualClock;
  operator: Operator;
  /** The platform's side of the device, to look at. */
  device: Device;
  deviceId: string;
  /** On a connection of its own. `path` is what follows the token, or a whole one from `/api`. */
  ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Answer>;
  /** For what isn't answered at once: resolves when the platform waits. */
  hold(method: string, path: string, body?: string): Promise<Held>;
}

/** A test for each of these modes, one after the other. */
export function inModes(modes: readonly Mode[], run: (t: ExecutionContext, wire: Wire) => Promise<void>) {
  return async (t: ExecutionContext): Promise<void> => {
    for (const as of modes) await run(t, await startWire(t, { as }));
  };
}

export async function startWire(t: ExecutionContext, options: PlatformServerOptions): Promise<Wire> {
  const clock = new VirtualClock();
  const platform = await startPlatform({ port: 0, clock, log: (line) => t.fail(line), ...options });
  t.teardown(() => platform.close());
  const operator = new Operator({ url: platform.url });
  await operator.login("tenant@thingsboard.org", "tenant");
  const profile = (await operator.profiles.list()).data.find(({ name }) => name === "Mote");
  const made = { name: "greenhouse-7", ...(profile && { deviceProfileId: profile.id }) };
  const deviceId = (await operator.devices.create(made, TOKEN)).id.id;
  const device = platform.core.devices.byToken(TOKEN) as Device;
  const send = (...request: Request): Held => exchange(platform, request);
  return {
    as: options.as ?? "deployed",
    platform,
    clock,
    operator,
    device,
    deviceId,
    ask: (...request) => send(...request).answer,
    hold: async (...request) => {
      const before = clock.waiting;
      const held = send(...request);
      await until(() => clock.waiting > before);
      return held;
    },
  };
}

/** Until the platform is where the test wants it: its sockets are real. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 5_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited 5 s in vain for ${isSo}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type Request = [method: string, path: string, body?: string, headers?: Record<string, string>];

function exchange({ address }: Platform, request: Request): Held {
  const socket = connect(address.port, address.host);
  let bytes = Buffer.alloc(0);
  // The test's clock stands still meanwhile: whoever says nothing for so long has nothing to say.
  socket.setTimeout(5_000, () => socket.destroy(new Error(`no answer to ${request[0]} ${request[1]}`)));
  socket.write(text(request));
  const answer = new Promise<Answer>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      const found = parse(bytes, request[0]);
      if (!found) return;
      // The end of the connection comes right behind an answer that announces it.
      const closed = new Promise<boolean>((ended) => {
        socket.on("end", () => ended(true));
        setTimeout(() => ended(false), found.headers.connection === "close" ? 1_000 : 20).unref();
      });
      closed.then((isClosed) => {
        socket.destroy();
        resolve({ ...found, closed: isClosed });
      });
    });
    socket.on("close", () => reject(new Error("the connection ended without an answer")));
  });
  answer.catch(() => {});
  return { answer, hangUp: () => void socket.destroy() };
}

function text([method, path, body, headers = {}]: Request): string {
  const target = path.startsWith("/") ? path : `/api/v1/${TOKEN}/${path}`;
  const all = {
    Host: "device",
    ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** Undefined until all of it has come. */
function parse(bytes: Buffer, method: string): Omit<Answer, "closed"> | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const pairs = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const headers: Record<string, string> = Object.fromEntries(pairs);
  const rest = bytes.subarray(end + 4);
  const chunked = headers["transfer-encoding"] === "chunked";
  const body = chunked
    ? joined(rest)
    : stated(rest, method === "HEAD" ? 0 : Number(headers["content-length"]));
  return body && { status: Number(first.split(" ")[1]), headers, text: body.toString() };
}

/** A body of so many bytes; undefined until all of it has come. */
function stated(bytes: Buffer, length: number): Buffer | undefined {
  if (bytes.length > length) throw new Error("more came than was announced");
  return bytes.length < length ? undefined : bytes;
}

/** A body in chunks; undefined until all of it has come. */
function joined(bytes: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (bytes.length < line + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
