// How connections are kept, and what is said about it.
import { connect } from "node:net";
import test, { type ExecutionContext } from "ava";
import { startPlatform } from "../../../../tools/platform/server.js";

/** Head of the one answer, and when the platform closed the connection, in milliseconds after the request. */
async function answerOf(
  t: ExecutionContext,
  connection: string,
  idleMs = 1_500,
): Promise<{ head: string; closedAfter: number }> {
  const platform = await startPlatform({ port: 0, idleMs, log: (line) => t.fail(line) });
  t.teardown(() => platform.close());
  const socket = connect(platform.address.port, platform.address.host);
  const began = performance.now();
  socket.write(`GET /api/v1/unknown/rpc HTTP/1.1\r\nHost: d\r\n${connection}\r\n`);
  let head = "";
  socket.on("data", (piece) => {
    head += piece.toString();
  });
  await new Promise((resolve) => socket.on("close", resolve));
  return { head, closedAfter: performance.now() - began };
}

test("an idle connection is closed after its time, and nothing is said of it unasked", async (t) => {
  const { head, closedAfter } = await answerOf(t, "");
  t.true(head.startsWith("HTTP/1.1 401 \r\n"), head);
  t.notRegex(head, /\r\n(?:Connection|Keep-Alive):/i);
  t.true(closedAfter >= 1_400, String(closedAfter));
});

test("who asks for the connection to be kept learns for how long", async (t) => {
  const { head } = await answerOf(t, "Connection: keep-alive\r\n");
  t.regex(head, /\r\nKeep-Alive: timeout=60\r\nConnection: keep-alive\r\n/);
});

test("who asks for the connection to be closed gets that", async (t) => {
  const { head, closedAfter } = await answerOf(t, "Connection: close\r\n", 60_000);
  t.regex(head, /\r\nConnection: close\r\n/i);
  t.true(closedAfter < 50_000, String(closedAfter));
});
