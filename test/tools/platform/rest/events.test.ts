// The stream of events for consoles: who may listen for how long, and who does not read.
import { request as ask, type IncomingMessage } from "node:http";
import test, { type ExecutionContext } from "ava";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";
import { VirtualClock } from "../rig.js";

interface Stream {
  response: IncomingMessage;
  ended: Promise<void>;
}

async function start(
  t: ExecutionContext,
): Promise<{ platform: Platform; clock: VirtualClock; token: string }> {
  const clock = new VirtualClock();
  const platform = await startPlatform({ port: 0, clock });
  t.teardown(() => platform.close());
  const login = await fetch(`${platform.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "tenant@thingsboard.org", password: "tenant" }),
  });
  return { platform, clock, token: ((await login.json()) as { token: string }).token };
}

/** Not read until the test does. */
function listen({ address }: Platform, token: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = { "x-authorization": `Bearer ${token}` };
    ask({ ...address, path: "/api/console/events", headers, agent: false }, (response) => {
      const ended = new Promise<void>((done) => {
        response.on("error", () => done());
        response.on("close", () => done());
      });
      resolve({ response, ended });
    })
      .on("error", reject)
      .end();
  });
}

test("a stream outlives its token by no more than a beat", async (t) => {
  t.timeout(20_000);
  const { platform, clock, token } = await start(t);
  const { response, ended } = await listen(platform, token);
  response.resume();
  let open = true;
  void ended.then(() => {
    open = false;
  });
  clock.advance(8_999_000);
  t.is((await fetch(platform.url)).status, 200);
  t.true(open);
  clock.advance(16_000);
  await ended;
  t.false(open);
});

test("who reads nothing is cut off before much is kept for them, and others go on", async (t) => {
  const { platform, token } = await start(t);
  const silent = await listen(platform, token);
  const good = await listen(platform, token);
  let read = 0;
  good.response.on("data", (piece: Buffer) => {
    read += piece.length;
  });
  const values = [["note", "x".repeat(100_000)]] as const;
  const sentBytes = 40_000_000;
  for (let sent = 100_000; sent <= sentBytes; sent += 100_000) {
    platform.core.feed.tell({ kind: "telemetry", deviceId: "d", ts: 1, values });
    while (read < sent && !good.response.destroyed) await new Promise((resolve) => setImmediate(resolve));
  }
  t.false(good.response.destroyed);
  good.response.destroy();
  let late = 0;
  const all = new Promise<void>((resolve) => {
    silent.response.on("data", (piece: Buffer) => {
      late += piece.length;
      if (late >= sentBytes) resolve();
    });
  });
  await Promise.race([silent.ended, all]);
  t.log(`${late} of ${sentBytes} bytes were kept`);
  t.true(late < sentBytes / 2);
});
