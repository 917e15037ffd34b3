// The local platform over real sockets: what only bytes on a wire can show.
import { get as getOverTls } from "node:https";
import { connect, type Socket } from "node:net";
import test, { type ExecutionContext } from "ava";
import {
  type Platform,
  type PlatformServerOptions,
  startPlatform,
} from "../../../../tools/platform/server.js";
import { CERT, KEY } from "../../../hosts/port/tls-fixture.js";

const TOKEN = "the-device-token";

async function start(t: ExecutionContext, options: PlatformServerOptions = {}): Promise<Platform> {
  const platform = await startPlatform({ port: 0, log: (line) => t.fail(line), ...options });
  t.teardown(() => platform.close());
  platform.core.createDevice({ name: "d", profileId: platform.core.profiles.default.id }, TOKEN);
  return platform;
}

interface Line {
  socket: Socket;
  /** All that has come. */
  text(): string;
  /** Resolves when what has come ends so, or the platform closed the connection. */
  until(end: string): Promise<string>;
  closed: Promise<void>;
}

function open(platform: Platform): Line {
  const socket = connect(platform.address.port, platform.address.host);
  let text = "";
  let look = (): void => {};
  socket.on("data", (data) => {
    text += data.toString();
    look();
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const until = (end: string): Promise<string> =>
    new Promise((resolve) => {
      look = () => {
        if (text.endsWith(end)) resolve(text);
      };
      look();
      closed.then(() => resolve(text));
    });
  return { socket, text: () => text, until, closed };
}

function post(path: string, body: string): string {
  return `POST /api/v1/${path} HTTP/1.1\r\nHost: d\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const get = (path: string): string => `GET /api/v1/${path} HTTP/1.1\r\nHost: d\r\n\r\n`;

test(`two requests go over one connection, and the status line has no reason`, async (t) => {
  const line = open(await start(t));
  line.socket.write(post(`${TOKEN}/telemetry`, '{"a":1}'));
  const first = await line.until("\r\n\r\n");
  t.true(first.startsWith("HTTP/1.1 200 \r\n"), first);
  line.socket.write(get(`${TOKEN}/attributes?sharedKeys=x`));
  t.true((await line.until("\r\n\r\n{}")).length > first.length);
  line.socket.destroy();
});

test(`a body that can't be parsed is answered, and the connection closed`, async (t) => {
  const line = open(await start(t));
  line.socket.write(post(`${TOKEN}/telemetry`, "{"));
  await line.closed;
  const [status] = line.text().split("\r\n");
  t.is(status, "HTTP/1.1 500 ");
  t.regex(line.text(), /\r\nConnection: close\r\n/i);
});

test("a poll that timed out is an empty 408, and the connection is closed", async (t) => {
  const line = open(await start(t));
  line.socket.write(get(`${TOKEN}/rpc?timeout=20`));
  await line.closed;
  t.true(line.text().startsWith("HTTP/1.1 408 \r\n"));
  t.true(line.text().endsWith("\r\n\r\n"));
});

test("a large body is refused by its stated length before it has come, and whatever the token", async (t) => {
  const line = open(await start(t));
  line.socket.write("POST /api/v1/unknown/rpc/1 HTTP/1.1\r\nHost: d\r\nContent-Length: 70000\r\n\r\n");
  const text = await line.until('"Payload size exceeds the limit of 65536 bytes"');
  t.true(text.startsWith("HTTP/1.1 413 \r\n"));
  line.socket.destroy();
});

test("a large body that is sent to its end still sees its answer", async (t) => {
  const platform = await start(t);
  const body = "x".repeat(1_000_000);
  const response = await fetch(`${platform.url}/api/v1/${TOKEN}/rpc/1`, { method: "POST", body });
  t.is(response.status, 413);
});

test("a body in chunks has no stated length and passes", async (t) => {
  const platform = await start(t);
  const line = open(platform);
  line.socket.write(`POST /api/v1/${TOKEN}/rpc/1 HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = "x".repeat(35_000);
  for (let sent = 0; sent < 2; sent++) line.socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  line.socket.write("0\r\n\r\n");
  t.true((await line.until("\r\n\r\n")).startsWith("HTTP/1.1 200 \r\n"));
  line.socket.destroy();
});

test("a device that hangs up leaves a zombie: the next one-way RPC is lost", async (t) => {
  const platform = await start(t);
  const device = platform.core.devices.byToken(TOKEN)!;
  const line = open(platform);
  line.socket.write(get(`${TOKEN}/rpc?timeout=60000`));
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  line.socket.destroy();
  while (platform.api.log.list().length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.is(platform.api.log.list()[0]?.status, 0);
  const results: string[] = [];
  const request = { method: "m", params: "{}", oneWay: true, expiresAt: Date.now() + 600_000 };
  device.rpc.send({ ...request, result: ({ kind }) => results.push(kind) });
  t.deepEqual(results, ["sent"]);
  t.is(device.rpc.pending, 0);
});

test("a HEAD request gets the head of the answer and no body", async (t) => {
  const line = open(await start(t));
  line.socket.write(get(`${TOKEN}/attributes`).replace("GET", "HEAD"));
  const text = await line.until("\r\n\r\n");
  t.regex(text, /^HTTP\/1\.1 200 \r\n(?:.+\r\n)*Content-Length: 2\r\n/i);
  line.socket.destroy();
});

test("bytes that are not HTTP, or a head too large, get a 400, and the connection closes", async (t) => {
  const platform = await start(t);
  for (const text of ["nonsense\r\n\r\n", `${get("x").slice(0, -4)}\r\nX: ${"y".repeat(9_000)}\r\n\r\n`]) {
    const line = open(platform);
    line.socket.write(text);
    await line.closed;
    t.regex(line.text(), /^HTTP\/1\.1 400 \r\n/);
  }
});

test("a connection ends after 100 requests", async (t) => {
  const line = open(await start(t));
  for (let sent = 0; sent < 100; sent++) line.socket.write(post(`${TOKEN}/telemetry`, '{"a":1}'));
  await line.closed;
  t.is(line.text().split("HTTP/1.1 200 ").length - 1, 100);
  t.is(line.text().match(/Connection: close/gi)?.length, 1);
});

test("close ends open polls at once and frees the port", async (t) => {
  const platform = await start(t);
  const line = open(platform);
  line.socket.write(get(`${TOKEN}/rpc?timeout=60000`));
  while (platform.core.devices.byToken(TOKEN)?.open.size === 0) await new Promise((go) => setImmediate(go));
  await platform.close();
  await line.closed;
  t.is(line.text(), "");
  const again = await startPlatform({ port: platform.address.port });
  await again.close();
});

test("a port that is taken is reported as such", async (t) => {
  const { address } = await start(t);
  const error = await t.throwsAsync(startPlatform({ port: address.port }));
  t.is(
    error?.message,
    `port ${address.port} of 127.0.0.1 is in use: choose another one, or stop what listens there`,
  );
});

test("with a certificate and its key it speaks https", async (t) => {
  const platform = await start(t, { tlsCert: CERT, tlsKey: KEY });
  t.true(platform.url.startsWith("https://127.0.0.1:"));
  const status = await new Promise((resolve, reject) => {
    const url = `${platform.url}/api/v1/${TOKEN}/attributes`;
    getOverTls(url, { ca: CERT }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
  });
  t.is(status, 200);
});

test("it listens on loopback unless configured otherwise, and the address says so", async (t) => {
  const platform = await start(t);
  t.is(platform.address.host, "127.0.0.1");
  t.is(platform.url, `http://127.0.0.1:${platform.address.port}`);
});

test("key and secret of the profile are random unless given", async (t) => {
  const [one, other] = [await start(t), await start(t)];
  t.regex(one.profile.key, /^[A-Za-z0-9]{20}$/);
  t.not(one.profile.secret, other.profile.secret);
  const given = await start(t, { profile: { key: "k", secret: "s" } });
  t.deepEqual(given.profile, { key: "k", secret: "s" });
});
