// How connections end that nobody ends, and how the platform does.
import { connect } from "node:net";
import test, { type ExecutionContext } from "ava";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";

const TOKEN = "the-device-token";

async function start(t: ExecutionContext, idleMs: number): Promise<Platform> {
  const platform = await startPlatform({ port: 0, idleMs });
  t.teardown(() => platform.close());
  platform.core.createDevice({ name: "d", profileId: platform.core.profiles.default.id }, TOKEN);
  return platform;
}

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

test("half a head, and a connection without any, end in silence", async (t) => {
  const platform = await start(t, 100);
  t.is(await said(platform, "GET /api/v1/x/attributes HTTP/1.1\r\nHos"), "");
  t.is(await said(platform, ""), "");
});

test("half a body is answered 408, and the connection ends", async (t) => {
  // Its head must arrive before the time is over.
  const platform = await start(t, 1_500);
  const head = `POST /api/v1/${TOKEN}/telemetry HTTP/1.1\r\nHost: d\r\nContent-Length: 7\r\n\r\n`;
  const text = await said(platform, `${head}{"a"`);
  t.true(text.startsWith("HTTP/1.1 408 \r\n"), text);
  t.regex(text, /"message":"SocketTimeoutException: ","errorCode":2,"status":408/);
});

test("stopped, it takes no connection and lets a poll run to its end", async (t) => {
  const platform = await start(t, 60_000);
  const poll = said(platform, `GET /api/v1/${TOKEN}/rpc?timeout=600 HTTP/1.1\r\nHost: d\r\n\r\n`);
  const device = platform.core.devices.byToken(TOKEN)!;
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  const ended = platform.drain();
  await t.throwsAsync(said(platform, "x"), { code: "ECONNREFUSED" });
  t.true((await poll).startsWith("HTTP/1.1 408 \r\n"));
  await ended;
  t.pass();
});
