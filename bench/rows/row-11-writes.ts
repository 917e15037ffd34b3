// Socket writes per request: an agent provisions itself, sends single points and full batches, attributes, small and large answers of RPC, polls and claims,
// and every request is looked for in what it gave to the socket. 100 % of them leave in one write, head and body together. Where the socket takes only 600 bytes
// at once, no write may hold a head alone whose body follows. The same on Node's own sockets, which take 64 KiB at once.
import { mkdtempSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "../../hosts/node/host.js";
import { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { fakeHost } from "../../test/fakes/host.js";
import type { PlatformCore } from "../../tools/platform/core/platform.js";
import { startPlatform } from "../../tools/platform/server.js";
import { BASE_URL, Counted } from "../counted.js";
import type { Row } from "../row.js";

const NAME = "greenhouse-7";
const PROFILE = { key: "provision-key", secret: "provision-secret" };
const HEAD_END = "\r\n\r\n";
const LENGTH = /^content-length: (\d+)/im;

export interface Shares {
  readonly requests: number;
  /** Requests that left in one write; requests with a body whose first write has some of it, or that have none. */
  readonly whole: number;
  readonly notHeadAlone: number;
}

/** Every request in what one connection was given, write by write. */
export function sharesOf(connections: readonly (readonly Uint8Array[])[]): Shares {
  let requests = 0;
  let whole = 0;
  let notHeadAlone = 0;
  for (const writes of connections) {
    const left = writes.map((bytes) => Buffer.from(bytes).toString("latin1"));
    while (left.length > 0) {
      const first = left.shift() ?? "";
      let text = first;
      while (!text.includes(HEAD_END) && left.length > 0) text += left.shift();
      const head = text.indexOf(HEAD_END) + HEAD_END.length;
      const length = head + Number(LENGTH.exec(text.slice(0, head))?.[1] ?? 0);
      while (text.length < length && left.length > 0) text += left.shift();
      requests++;
      if (first.length === length) whole++;
      if (length === head || first.length > head) notHeadAlone++;
    }
  }
  return { requests, whole, notHeadAlone };
}

/** Everything an agent can ask for. `pass` lets time go by until something is reached. */
async function everything(
  host: Host,
  baseUrl: string,
  core: PlatformCore,
  pass: (reached: () => boolean) => Promise<unknown>,
): Promise<void> {
  const agent = new Agent(host, {
    baseUrl,
    provisioning: { ...PROFILE, deviceName: NAME },
    connections: 3,
    firmware: { title: "lamp", version: "1.0.0" },
    telemetry: { batchPoints: 500, batchBytes: 60_000, bufferBytes: 1_048_576, batchAgeMs: 10 },
    rpc: { answerBytes: 65_536 },
  });
  agent.rpc.handle("size", (params) => "x".repeat(Number(params)));
  agent.attributes.subscribe("interval", () => {});
  agent.attributes.publish({ serial: "A-113" });
  agent.start();
  await pass(() => core.devices.byName(NAME) !== undefined && agent.state === "online");
  let delivered = 0;
  agent.on("delivered", ({ points }) => {
    delivered += points;
  });
  agent.telemetry.record({ temperature: 21.5 });
  await pass(() => delivered > 0);
  const before = delivered;
  for (let n = 0; n < 5000; n++) agent.telemetry.record({ n, text: "a longer value of telemetry" });
  await pass(() => delivered >= before + 5000);
  const device = core.devices.byName(NAME);
  if (!device) throw new Error("the device is gone");
  let answers = 0;
  const result = () => {
    answers++;
  };
  for (const size of [1, 10, 100, 500, 1000, 1300, 1400, 1500, 3000, 8000, 30_000, 60_000]) {
    const expiresAt = core.clock.now() + 60_000;
    device.rpc.send({ method: "size", params: String(size), oneWay: false, expiresAt, result });
    const answered = answers;
    await pass(() => answers > answered);
  }
  await during(agent.claim({ secretKey: "secret" }), pass);
  await during(agent.stop(), pass);
}

async function during(
  work: Promise<unknown>,
  pass: (reached: () => boolean) => Promise<unknown>,
): Promise<void> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  await pass(() => isDone);
  await ended;
}

/** On sockets of memory that take `writeBytes` at once. */
export async function inMemory(writeBytes?: number): Promise<Shares> {
  const counted = new Counted();
  if (writeBytes !== undefined) counted.net.options.writeBytes = writeBytes;
  const { clock, net, core } = counted;
  const { key: provisionKey, secret: provisionSecret } = PROFILE;
  core.profiles.create({
    name: "agents",
    strategy: "ALLOW_CREATE_NEW_DEVICES",
    provisionKey,
    provisionSecret,
  });
  await everything(fakeHost({ clock, network: net }), BASE_URL, core, (reached) => clock.runUntil(reached));
  return sharesOf(net.peers.map(({ writes }) => writes));
}

/** What Node's own sockets are given, on those that are not the server's. */
export async function onNode(): Promise<Shares> {
  const connections = new Map<Socket, Uint8Array[]>();
  const { write } = Socket.prototype;
  Socket.prototype.write = function (this: Socket & { server?: unknown }, ...call: unknown[]): boolean {
    const [bytes] = call;
    if (!this.server && bytes instanceof Uint8Array) {
      const writes = connections.get(this) ?? [];
      connections.set(this, [...writes, bytes.slice()]);
    }
    return write.apply(this, call as Parameters<typeof write>);
  };
  const stateDir = mkdtempSync(join(tmpdir(), "mote-writes-"));
  const platform = await startPlatform({ port: 0, profile: PROFILE });
  const host = createHost({ stateDir, log: () => {} });
  try {
    await everything(host, platform.url, platform.core, async (reached) => {
      while (!reached()) await new Promise((resolve) => setTimeout(resolve, 5));
    });
    return sharesOf([...connections.values()]);
  } finally {
    Socket.prototype.write = write;
    host.close();
    await platform.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

export const row: Row = {
  id: 11,
  name: "requests that leave in one write, of all",
  target: 100,
  better: "more",
  quick: true,
  exact: async () => {
    const all = await inMemory();
    const pieces = await inMemory(600);
    return {
      "requests in more than one write": all.requests - all.whole,
      "requests whose head left alone": pieces.requests - pieces.notHeadAlone,
    };
  },
  run: async () => {
    const unit = "%";
    const all = await inMemory();
    const pieces = await inMemory(600);
    const node = await onNode();
    const share = (part: number, { requests }: Shares) => (100 * part) / requests;
    return [
      { what: `${all.requests} requests on sockets of memory`, unit, mote: share(all.whole, all) },
      { what: `${node.requests} requests on Node's sockets`, unit, mote: share(node.whole, node) },
      {
        what: "no head alone, where the socket takes 600 bytes at once",
        unit,
        mote: share(pieces.notHeadAlone, pieces),
      },
    ];
  },
};
