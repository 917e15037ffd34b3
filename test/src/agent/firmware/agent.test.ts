// The whole agent on in-memory sockets: from the notification that firmware was assigned to the confirmation after the restart.
import test from "ava";
import { Agent } from "../../../../src/agent/agent.js";
import { type FakeHost, fakeHost } from "../../../fakes/host.js";
import { answer, type SeenRequest, serve } from "../../../fakes/server.js";
import { imageOf, sha256 } from "./rig.js";

const IMAGE = imageOf("2.0.0", 200_000);
const ASSIGNED = {
  fw_title: "lamp",
  fw_version: "2.0.0",
  fw_size: IMAGE.length,
  fw_checksum_algorithm: "SHA256",
  fw_checksum: sha256(IMAGE),
};

class Stand {
  shared: Record<string, unknown> = {};
  client: Record<string, unknown> = {};
  /** An image comes in pieces of 2 KiB, so far apart. */
  paceMs = 0;
  readonly telemetry: string[] = [];
  readonly seen: SeenRequest[];
  readonly #polls: SeenRequest[] = [];

  readonly #host: FakeHost;

  constructor(host: FakeHost) {
    this.#host = host;
    this.seen = serve(host.net, (request) => this.#handle(request));
  }

  /** As the platform does it: the deletion is sent to the open poll, which ends with it; the values to nobody. */
  assign(): void {
    for (const poll of this.#polls.splice(0)) poll.reply(200, { deleted: ["fw_url"] });
    this.shared = ASSIGNED;
  }

  get states(): string[] {
    const states = [...this.telemetry.join("\n").matchAll(/"fw_state":"([A-Z]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    return states.filter((state, i) => state !== states[i - 1]);
  }

  #handle(request: SeenRequest): void {
    const [path = "", query = ""] = request.path.replace("/api/v1/TOKEN/", "").split("?");
    if (path === "telemetry") this.telemetry.push(request.body);
    if (path === "attributes" && request.method === "POST")
      Object.assign(this.client, JSON.parse(request.body));
    if (path === "attributes" && request.method === "GET")
      request.reply(200, { client: this.client, shared: this.shared });
    else if (path === "attributes/updates") this.#polls.push(request);
    else if (path === "rpc" && request.method === "GET")
      this.#host.clock.timer(Number(new URLSearchParams(query).get("timeout")), () =>
        request.reply(408, "", { Connection: "close" }),
      );
    else if (path === "firmware") this.#hand(request, new URLSearchParams(query));
    else request.reply(200);
  }

  #hand(request: SeenRequest, query: URLSearchParams): void {
    const size = Number(query.get("size") ?? IMAGE.length);
    const from = size * Number(query.get("chunk") ?? 0);
    const bytes = IMAGE.subarray(from, from + size);
    request.peer.send(answer(200, "", { "Content-Length": `${bytes.length}` }));
    this.#send(request, bytes);
  }

  #send(request: SeenRequest, bytes: Uint8Array): void {
    const now = this.paceMs === 0 ? bytes.length : 2048;
    request.peer.send(bytes.subarray(0, now));
    const rest = bytes.subarray(now);
    if (rest.length > 0) this.#host.clock.timer(this.paceMs, () => this.#send(request, rest));
  }
}

function agentOn(host: FakeHost, connections: 1 | 2 | 3, version: string): Agent {
  return new Agent(host, {
    baseUrl: "https://platform.example.com",
    token: "TOKEN",
    connections,
    firmware: { title: "lamp", version },
  });
}

test("a download that stop() ended is over: nothing of it ends the one that goes on after it", async (t) => {
  const host = fakeHost({ net: { segmentBytes: 1460 } });
  const stand = new Stand(host);
  stand.paceMs = 3000;
  stand.shared = ASSIGNED;
  const agent = agentOn(host, 3, "1.0.0");
  const parts = () => stand.seen.filter(({ path }) => path.includes("/firmware?"));
  agent.start();
  await host.clock.runUntil(() => parts().length === 1, 60_000);
  await host.clock.advance(20_000);
  const stopped = agent.stop();
  await host.clock.advance(0);
  await stopped;
  agent.start();
  await host.clock.advance(150_000);
  // The second begins with the header alone, which is not believed over a stop.
  const asked = parts()
    .slice(2)
    .map(({ path }) => {
      const query = new URLSearchParams(path.split("?")[1]);
      const size = Number(query.get("size"));
      return { from: size * Number(query.get("chunk")), size };
    });
  t.true(asked.length > 1);
  for (const [i, { from, size }] of asked.slice(0, -1).entries())
    t.is(asked[i + 1]?.from, from + size, "a part came whole");
  const again = agent.stop();
  await host.clock.advance(0);
  await again;
});

for (const connections of [1, 2, 3] as const) {
  test(`the whole agent updates itself, with telemetry going on meanwhile, ${connections} connection(s)`, async (t) => {
    const host = fakeHost({ net: { segmentBytes: 1460 } });
    const stand = new Stand(host);
    const agent = agentOn(host, connections, "1.0.0");
    agent.start();
    await host.clock.advance(40_000);
    stand.assign();
    let during = 0;
    agent.on("firmware", ({ progress }) => {
      if (progress === undefined) return;
      during++;
      agent.telemetry.record({ during });
    });
    const took = await host.clock.runUntil(() => host.restarts.length > 0, 45 * 60_000);
    t.log(`${Math.round(took / 1000)} s for ${IMAGE.length} bytes`);
    await agent.stop();
    t.deepEqual(host.restarts, ["firmware"]);
    t.is(host.slot.activated, IMAGE.length);
    t.is(sha256(host.slot.bytes.subarray(0, IMAGE.length)), sha256(IMAGE));
    t.true(during > 5);
    t.true(
      stand.telemetry.join().includes(`"during":${during}`),
      "the points recorded meanwhile arrived before the restart",
    );
    t.deepEqual(stand.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"]);
    const fetched = stand.seen.filter(({ path }) => path.includes("/firmware?"));
    t.is(fetched.length, connections === 3 ? 1 : Math.ceil(IMAGE.length / 16_384));

    host.slot.current = "pending";
    const next = agentOn(host, connections, "2.0.0");
    next.start();
    await host.clock.runUntil(() => stand.states.includes("UPDATED"), 60_000);
    t.is(host.slot.state(), "confirmed");
    await host.clock.advance(120_000);
    t.is(stand.states.at(-1), "UPDATED");
    await next.stop();
    t.deepEqual(host.slot.violations, []);
  });
}
