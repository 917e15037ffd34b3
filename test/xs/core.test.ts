// The portable part as one script on the XS engine itself.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type ExecutionContext } from "ava";
import { none } from "../../hosts/none.js";
import * as mote from "../../src/index.js";
import { Bridge } from "./engine/bridge.js";
import { bundle } from "./engine/bundle.js";
import { nodeHost } from "./engine/node-host.js";
import { testOnXs } from "./engine/on-xs.js";
import { texts } from "./guest/texts.js";

const CORE = 'import * as mote from "./src/index.ts"; globalThis.mote = mote;';

test("src links with nothing: one neutral script with the host that refuses runs without any machine", async (t) => {
  const script = await bundle(`
    import { none } from "./hosts/none.ts";
    import { Agent } from "./src/index.ts";
    globalThis.made = new Agent(none, { baseUrl: "https://platform.example.com", token: "T1" });
  `);
  const globals: { made?: mote.Agent } = {};
  // Without the globals of Node: what is not of the language itself would throw.
  const hidden = [
    "process",
    "require",
    "Buffer",
    "console",
    "setTimeout",
    "setImmediate",
    "queueMicrotask",
    "URL",
  ];
  new Function("globalThis", ...hidden, script)(globals);
  t.is(globals.made?.state, "stopped");
});

testOnXs("the core evaluates on XS and has all its public names", async (t) => {
  const bridge = await Bridge.start(none, { entry: CORE });
  t.deepEqual(await bridge.run("Object.keys(mote).sort()"), Object.keys(mote).sort());
  await bridge.close();
});

testOnXs("values, documents, paths and checksums come out the same on XS and on Node", async (t) => {
  const entry = 'import { texts } from "./test/xs/guest/texts.ts"; globalThis.texts = texts;';
  const bridge = await Bridge.start(none, { entry });
  const [here, there] = [texts(), (await bridge.run("texts()")) as string[]];
  t.true(here.length > 400);
  t.deepEqual(there, here);
  await bridge.close();
});

interface Received {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Takes every telemetry POST and lets every poll wait. */
async function platform(t: ExecutionContext): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", () => {
      received.push({ method: request.method!, path: request.url!, body });
      if (request.url!.includes("?timeout=")) return;
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(request.method === "GET" ? "{}" : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

testOnXs("an agent on XS delivers one point", async (t) => {
  const { url, received } = await platform(t);
  const bridge = await Bridge.start(nodeHost(t), { entry: CORE });
  const points = await bridge.run(`new Promise((done) => {
    globalThis.agent = new mote.Agent(host, { baseUrl: "${url}", token: "T1", telemetry: { batchAgeMs: 10 } });
    agent.on("delivered", ({ points }) => done(points));
    agent.telemetry.record({ temperature: 21.5, place: "😀" });
    agent.start();
  })`);
  await bridge.run("agent.stop()");
  await bridge.close();
  t.is(points, 1);
  const post = received.find(({ path }) => path === "/api/v1/T1/telemetry");
  const point = JSON.parse(post?.body ?? "null");
  t.is(post?.method, "POST");
  t.deepEqual([point].flat()[0].values, { temperature: 21.5, place: "😀" });
});
