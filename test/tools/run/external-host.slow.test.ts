// A package that lies on a file server, over real sockets and in real worker processes: the process started afterwards is the new image.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import test from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { configFor, image } from "./images.js";
import { session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));
const TOKEN = "token-of-a-test";
const RANGE = /^bytes=(\d+)-(\d+)$/;

/** Serves one file by ranges, behind a redirect, and hangs up once in the middle. Returns its address and what it was asked. */
async function fileServer(
  t: { teardown(work: () => unknown): void },
  bytes: Buffer,
): Promise<{ authority: string; seen: string[] }> {
  const seen: string[] = [];
  let hangsUp = true;
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
    if (request.url === "/latest") {
      response.writeHead(302, { Location: "files/2.mjs?key=s3cret" }).end();
      return;
    }
    const [, from = 0, to = bytes.length] = (RANGE.exec(request.headers.range ?? "") ?? []).map(Number);
    const part = bytes.subarray(from, to + 1);
    response.writeHead(206, {
      ETag: '"1"',
      "Content-Range": `bytes ${from}-${to}/${bytes.length}`,
      "Content-Length": part.length,
    });
    if (!hangsUp || part.length < 1000) return void response.end(part);
    hangsUp = false;
    response.write(part.subarray(0, part.length >> 1), () => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { authority: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test.serial(
  "an update from a file server arrives through a redirect and a dropped connection, and the token does not go there",
  async (t) => {
    const next = image(
      "2",
      `agent.telemetry.record({ fixed: 1 }); setInterval(() => {}, 1000); // ${"x".repeat(60_000)}`,
    );
    const { authority, seen } = await fileServer(t, next);
    const platform = await startPlatform({ port: 0 });
    t.teardown(() => platform.close());
    const { core } = platform;
    const device = core.createDevice({ name: "lamp", profileId: core.profiles.default.id }, TOKEN);
    const app = image("1", "setInterval(() => {}, 1000);").toString();
    const listed = app.replace('version: "1"', `version: "1", urlHosts: ["${authority}"]`);
    const stateDir = temporaryState(t);
    const config = { ...configFor(stateDir), url: platform.url };
    const { eventLog, stop } = session(t, stateDir, Buffer.from(listed), { config, worker: WORKER });
    await eventLog.until(({ events }) => events.some(({ event }) => event === "online"));
    const fields = { type: "FIRMWARE", title: "test", version: "2", tag: undefined } as const;
    const made = core.packages.create({
      ...fields,
      url: `http://${authority}/latest`,
      profileId: device.profileId,
    });
    Object.assign(made, { checksum: createHash("sha256").update(next).digest("hex"), algorithm: "SHA256" });
    core.updateDevice(device, { name: device.name, profileId: device.profileId, firmwareId: made.id });
    await eventLog.until(({ events }) =>
      events.some(
        ({ event, state }) => event === "firmware.state" && (state === "UPDATED" || state === "FAILED"),
      ),
    );
    while (device.series.latest("fixed") === undefined)
      await new Promise((resolve) => setTimeout(resolve, 20));
    t.is(await stop(), 0);
    t.deepEqual(eventLog.starts, ["1 confirmed", "2 pending"]);
    t.is(device.series.latest("fw_state")?.value, "UPDATED");
    t.true(seen.length >= 4);
    t.false(seen.join().includes(TOKEN));
    t.false(JSON.stringify(eventLog.events).includes("s3cret"));
  },
);
