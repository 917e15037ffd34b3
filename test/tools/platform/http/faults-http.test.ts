// The switchboard over real sockets: what each fault does to the bytes, and who may use it.
import { request as ask } from "node:http";
import { connect } from "node:net";
import test, { type ExecutionContext } from "ava";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";

const TOKEN = "the-device-token";

async function start(t: ExecutionContext): Promise<Platform> {
  const platform = await startPlatform({ port: 0, log: (line) => t.fail(line) });
  t.teardown(() => platform.close());
  platform.core.createDevice({ name: "d", profileId: platform.core.profiles.default.id }, TOKEN);
  return platform;
}

interface Answer {
  status: number;
  text: string;
}

/** A request with any headers, which `fetch` would not send. */
function call(
  { address }: Platform,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = body ? { "content-type": "application/json" } : {};
    const options = {
      host: address.host,
      port: address.port,
      method,
      path,
      headers: { ...type, ...headers },
    };
    const sent = ask({ ...options, agent: false }, (answer) => {
      let text = "";
      answer.on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** What comes back until the connection ends, and how it ends. */
function bytesOf({ address }: Platform, path: string): Promise<{ text: string; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(address.port, address.host);
    let text = "";
    let end = "close";
    socket.on("data", (piece) => {
      text += piece.toString("latin1");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      end = error.code ?? "?";
    });
    socket.on("close", () => resolve({ text, end }));
    socket.write(`GET /api/v1/${TOKEN}/${path} HTTP/1.1\r\nHost: d\r\n\r\n`);
  });
}

const switchOn = (platform: Platform, ...faults: object[]): Promise<Answer> =>
  call(platform, "POST", "/api/faults", {}, { seed: 7, faults });

test("faults are switched on, listed and cleared without a login", async (t) => {
  const platform = await start(t);
  const on = await switchOn(platform, { fault: "delay", ms: 5, match: { path: "rpc*" }, count: 2 });
  const listed = { id: 1, fault: "delay", ms: 5, match: { path: "rpc*" }, count: 2 };
  const expected = { ...listed, skip: 0, probability: 1, seed: 7, seen: 0, done: 0 };
  t.deepEqual([on.status, JSON.parse(on.text)], [200, { faults: [expected] }]);
  t.deepEqual(JSON.parse((await call(platform, "GET", "/api/faults")).text), { faults: [expected] });
  t.is((await call(platform, "DELETE", "/api/faults")).status, 200);
  t.is((await call(platform, "GET", "/api/faults")).text, '{"faults":[]}');
});

test("a fault that isn't one is a 400 that says why", async (t) => {
  const platform = await start(t);
  const { status, text } = await switchOn(platform, { fault: "fire" });
  t.is(status, 400);
  t.like(JSON.parse(text), { status: 400, errorCode: 31 });
  t.regex(text, /'fault' is one of delay/);
  t.is((await call(platform, "GET", "/api/faults")).text, '{"faults":[]}');
});

test("no web page can switch faults, by whatever name it comes", async (t) => {
  const platform = await start(t);
  const own = `127.0.0.1:${platform.address.port}`;
  const foreign: Record<string, string>[] = [
    { host: "evil.example" },
    { host: `evil.example:${platform.address.port}` },
    { host: "127.0.0.1.evil.example" },
    { host: "localhost.evil.example" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "x-forwarded-for": "192.0.2.1" },
  ];
  const calls = ["GET /api/faults", "DELETE /api/faults", "POST /api/faults"];
  for (const line of calls) {
    const [method = "", path = ""] = line.split(" ");
    const body = method === "POST" ? { faults: [{ fault: "drop" }] } : undefined;
    for (const headers of foreign) {
      const { status, text } = await call(platform, method, path, { host: own, ...headers }, body);
      t.deepEqual([status, JSON.parse(text).errorCode], [403, 20], `${line} ${JSON.stringify(headers)}`);
    }
    for (const host of [own, "localhost", `LOCALHOST:${platform.address.port}`, "[::1]:8080"]) {
      const headers = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
      t.is((await call(platform, method, path, headers, body)).status, 200, `${line} ${host}`);
    }
  }
});

test("a form, which a page may send anywhere, switches nothing on", async (t) => {
  const platform = await start(t);
  const headers = { "content-type": "text/plain" };
  const { status } = await call(platform, "POST", "/api/faults", headers, { faults: [{ fault: "drop" }] });
  t.is(status, 415);
});

test("drop: nothing comes on a connection that stays open", async (t) => {
  const platform = await start(t);
  await switchOn(platform, { fault: "drop" });
  const socket = connect(platform.address.port, platform.address.host);
  let came = false;
  socket.on("data", () => {
    came = true;
  });
  socket.on("close", () => {
    came = true;
  });
  socket.write(`POST /api/v1/${TOKEN}/telemetry HTTP/1.1\r\nHost: d\r\nContent-Length: 7\r\n\r\n{"a":1}`);
  while (platform.api.log.list().length === 0) await new Promise((go) => setImmediate(go));
  await call(platform, "GET", "/api/faults");
  t.false(came);
  t.deepEqual(platform.core.devices.byToken(TOKEN)?.series.keys(), ["a"]);
  socket.destroy();
});

test("reset: the connection breaks after so many bytes of the answer", async (t) => {
  const platform = await start(t);
  await switchOn(platform, { fault: "reset", count: 1 }, { fault: "reset", afterBytes: 12 });
  t.deepEqual(await bytesOf(platform, "attributes"), { text: "", end: "ECONNRESET" });
  // Node reports an end instead of a reset if it reads the bytes after the reset arrived.
  const { text, end } = await bytesOf(platform, "attributes");
  t.is(text, "HTTP/1.1 200");
  t.regex(end, /^(?:ECONNRESET|close)$/);
});

test("truncated: the head promises more than comes, and the connection ends in order", async (t) => {
  const platform = await start(t);
  await switchOn(platform, { fault: "truncated" });
  const { text, end } = await bytesOf(platform, "nothing-here");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  t.is(end, "close");
  t.regex(head, /^HTTP\/1\.1 404 \r\n/);
  t.regex(head, /\r\nDate: \w{3}, /);
  t.regex(head, /\r\nTransfer-Encoding: chunked\r\n/);
  t.false(body.endsWith("\r\n0"), body);
  t.notRegex(text, /\r\n0\r\n\r\n$/);
});

test("garbage: bytes that are no answer, the same for the same seed", async (t) => {
  const platform = await start(t);
  const run = async (): Promise<string> => {
    await call(platform, "DELETE", "/api/faults");
    await switchOn(platform, { fault: "garbage", bytes: 100 });
    return (await bytesOf(platform, "attributes")).text;
  };
  const first = await run();
  t.is(first.length, 100);
  t.false(first.startsWith("HTTP"));
  t.is(await run(), first);
});

test("delay and status reach the device, and the operator is spared", async (t) => {
  const platform = await start(t);
  await switchOn(platform, { fault: "delay", ms: 30 }, { fault: "status", status: 503 });
  const began = performance.now();
  t.is((await call(platform, "GET", `/api/v1/${TOKEN}/attributes`)).status, 503);
  t.true(performance.now() - began >= 25);
  t.is((await call(platform, "GET", "/api/auth/user")).status, 401);
  const [logged] = platform.api.log.list();
  t.like(logged, { status: 503, faults: ["delay", "status"], path: "/api/v1/***/attributes" });
});

test("clock-skew: the Date header is another one", async (t) => {
  const platform = await start(t);
  await switchOn(platform, { fault: "clock-skew", ms: -86_400_000 });
  const { headers } = await fetch(`${platform.url}/api/v1/${TOKEN}/attributes`);
  const behind = Date.now() - Date.parse(headers.get("date") ?? "");
  t.true(behind > 86_390_000 && behind < 86_410_000, String(behind));
});
