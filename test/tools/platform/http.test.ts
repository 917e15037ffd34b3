import { connect } from "node:net";
import test from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { until } from "../until.js";
import { startWithDevice, TOKEN } from "./rig.js";

/** All that comes until the platform ends the connection. */
function said({ address }: Platform, text: string): Promise<string> {
  const socket = connect(address.port, address.host);
  let heard = "";
  socket.on("data", (piece) => {
    heard += piece.toString();
  });
  socket.write(text);
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => resolve(heard));
  });
}

function post(path: string, body: string): string {
  return `POST /api/v1/${path} HTTP/1.1\r\nHost: d\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const get = (path: string): string => `GET /api/v1/${path} HTTP/1.1\r\nHost: d\r\n\r\n`;

test("a device that hangs up leaves a zombie: the next one-way RPC is lost", async (t) => {
  const platform = await startWithDevice(t);
  const device = platform.core.devices.byToken(TOKEN)!;
  const socket = connect(platform.address.port, platform.address.host);
  socket.write(get(`${TOKEN}/rpc?timeout=60000`));
  await until(() => device.open.size > 0);
  socket.destroy();
  await until(() => platform.api.log.list().length > 0);
  t.is(platform.api.log.list()[0]?.status, 0);
  const results: string[] = [];
  const request = { method: "m", params: "{}", oneWay: true, expiresAt: Date.now() + 600_000 };
  device.rpc.send({ ...request, result: ({ kind }) => results.push(kind) });
  t.deepEqual(results, ["sent"]);
  t.is(device.rpc.pending, 0);
});

test("a connection ends after 100 requests, and after bytes that are not HTTP", async (t) => {
  const platform = await startWithDevice(t);
  const text = await said(platform, post(`${TOKEN}/telemetry`, '{"a":1}').repeat(100));
  t.is(text.split("HTTP/1.1 200 \r\n").length - 1, 100);
  t.is(text.match(/Connection: close/gi)?.length, 1);
  const large = `${get("x").slice(0, -4)}\r\nX: ${"y".repeat(9_000)}\r\n\r\n`;
  for (const wrong of ["nonsense\r\n\r\n", large])
    t.regex(await said(platform, wrong), /^HTTP\/1\.1 400 \r\n/);
});

test("close ends open polls at once and frees the port", async (t) => {
  const platform = await startWithDevice(t);
  const poll = said(platform, get(`${TOKEN}/rpc?timeout=60000`));
  await until(() => platform.core.devices.byToken(TOKEN)!.open.size > 0);
  await platform.close();
  t.is(await poll, "");
  const again = await startPlatform({ port: platform.address.port });
  const taken = `port ${again.address.port} of 127.0.0.1 is in use: choose another port, or stop the program that uses it`;
  await t.throwsAsync(startPlatform({ port: again.address.port }), { message: taken });
  await again.close();
});

test("an idle connection and half a head end in silence, half a body with 408", async (t) => {
  // A head must arrive before the time is over.
  const platform = await startWithDevice(t, { idleMs: 1_500 });
  const began = performance.now();
  const head = await said(platform, get("unknown/rpc"));
  t.true(head.startsWith("HTTP/1.1 401 \r\n"), head);
  t.notRegex(head, /\r\n(?:Connection|Keep-Alive):/i);
  t.true(performance.now() - began >= 1_400);
  t.is(await said(platform, "GET /api/v1/x/attributes HTTP/1.1\r\nHos"), "");
  const text = await said(platform, post(`${TOKEN}/telemetry`, '{"a":1}').slice(0, -3));
  t.true(text.startsWith("HTTP/1.1 408 \r\n"), text);
});

test("stopped, it takes no connection and lets a poll run to its end", async (t) => {
  const platform = await startWithDevice(t);
  const poll = said(platform, get(`${TOKEN}/rpc?timeout=600`));
  const device = platform.core.devices.byToken(TOKEN)!;
  await until(() => device.open.size > 0);
  const ended = platform.drain();
  await t.throwsAsync(said(platform, "x"), { code: "ECONNREFUSED" });
  t.true((await poll).startsWith("HTTP/1.1 408 \r\n"));
  await ended;
  t.pass();
});

// Random requests: each one is answered, or ends by its time, and none is a fault of the local
// platform.
