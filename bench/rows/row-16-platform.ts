// The local platform against a bare Fastify route that parses the body, or the query, and does nothing with it: the local platform besides keeps every number's type by its
// spelling, stores the points, logs the request and applies limits and faults. Each is a process of its own that runs on one core at most, and what counts is its own
// CPU time: points a second of it, and polls a second of it (1,000 held at once, each of 1 s, ended by 408 and the end of the connection as the real server
// does it). 50 points of 3 numbers a request, on four connections.
import { type Part, startPart } from "../parts/parts.js";
import { Raw } from "../raw.js";
import { inTurn, type Line, type Options, type Row } from "../row.js";
import { points } from "../upload.js";

const CONNECTIONS = 4;
const BATCH = 50;
const POLL_MS = 1000;
const SIZES = {
  whole: { requests: 500, polls: 1000 },
  quick: { requests: 100, polls: 200 },
} as const;
const KINDS = ["platform", "bare"] as const;

interface Server {
  readonly part: Part;
  readonly port: number;
  readonly connections: readonly Raw[];
}

async function start(kind: string, devices: number): Promise<Server> {
  const part = await startPart("part-server.js", kind, String(devices));
  const port = part.said as number;
  return { part, port, connections: Array.from({ length: CONNECTIONS }, () => new Raw(port)) };
}

/** How many of `count` a second of the server's CPU does. */
async function rate({ part }: Server, count: number, work: () => Promise<unknown>): Promise<number> {
  const before = (await part.ask({})) as number;
  await work();
  return count / (((await part.ask({})) as number) - before);
}

/** Points of later than any before, so that they are stored and not written over. */
class Batches {
  #from = 0;

  next(): string {
    this.#from += BATCH * 1000;
    const batch = points(BATCH).map(({ ts, values }) => ({ ts: ts + this.#from, values }));
    return JSON.stringify(batch);
  }
}

async function upload({ connections }: Server, bodies: readonly string[]): Promise<void> {
  const left = [...bodies];
  const one = async (connection: Raw, device: number): Promise<void> => {
    for (let body = left.shift(); body !== undefined; body = left.shift()) {
      const head = `POST /api/v1/d${device}/telemetry HTTP/1.1\r\nContent-Type: application/json`;
      const { status } = await connection.request(head, body);
      if (status !== 200) throw new Error(`telemetry was answered ${status}`);
    }
  };
  await Promise.all(connections.map(one));
}

async function poll(port: number, device: number): Promise<void> {
  const { status } = await new Raw(port).request(`GET /api/v1/d${device}/rpc?timeout=${POLL_MS} HTTP/1.1`);
  if (status !== 408) throw new Error(`a poll was answered ${status}`);
}

async function run({ times, quick }: Options): Promise<Line[]> {
  const { requests, polls } = SIZES[quick ? "quick" : "whole"];
  const [platform, bare] = await Promise.all(KINDS.map((kind) => start(kind, polls)));
  if (!platform || !bare) throw new Error("no server");
  const batches = new Batches();
  const points = (server: Server) => {
    const bodies = Array.from({ length: requests }, () => batches.next());
    return rate(server, requests * BATCH, () => upload(server, bodies));
  };
  const held = (server: Server) =>
    rate(server, polls, () => Promise.all(Array.from({ length: polls }, (_, n) => poll(server.port, n))));
  try {
    const stored = await inTurn(times, { mote: () => points(platform), limit: () => points(bare) });
    const ended = await inTurn(times, { mote: () => held(platform), limit: () => held(bare) });
    return [
      { unit: "points a second of CPU", ...stored },
      { what: `${polls} held at once`, unit: "polls a second of CPU", ...ended },
    ];
  } finally {
    for (const server of [platform, bare]) {
      for (const connection of server.connections) connection.close();
      await server.part.end();
    }
  }
}

export const row: Row = {
  id: 16,
  name: "the local platform, against a Fastify route that only parses",
  target: 0.5,
  better: "more",
  quick: true,
  run,
};
