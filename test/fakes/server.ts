// An HTTP server on the in-memory sockets, for tests that care about requests and not about bytes.
import type { FakeNet, Peer } from "./net.js";

export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly peer: Peer;
  /** Answers: an object or array leaves as JSON, a string as it is. */
  reply(status: number, body?: unknown, headers?: Record<string, string>): void;
}

/**
 * Hands every complete request to `handle`, which replies at once, later, or never. Returns the
 * list of all requests seen.
 */
export function serve(
  net: Pick<FakeNet, "onConnect">,
  handle: (request: SeenRequest) => unknown,
): SeenRequest[] {
  const seen: SeenRequest[] = [];
  net.onConnect = (peer) => {
    let waiting = "";
    peer.onData = (bytes) => {
      waiting += Buffer.from(bytes).toString("latin1");
      for (let taken = take(waiting, peer); taken; taken = take(waiting, peer)) {
        waiting = taken.rest;
        seen.push(taken.request);
        handle(taken.request);
      }
    };
  };
  return seen;
}

/** The bytes of an answer. */
export function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): Uint8Array {
  const content = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = Object.entries({ "Content-Length": `${content.length}`, ...headers });
  const head = `HTTP/1.1 ${status} \r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), content]);
}

function take(waiting: string, peer: Peer): { request: SeenRequest; rest: string } | undefined {
  const end = waiting.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = waiting.slice(0, end).split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const from = end + 4;
  const to = from + Number(headers["content-length"] ?? 0);
  if (waiting.length < to) return undefined;
  const body = Buffer.from(waiting.slice(from, to), "latin1").toString();
  const reply: SeenRequest["reply"] = (status, content, more) => {
    peer.send(answer(status, content, more));
    if (more?.Connection === "close") peer.end();
  };
  return { request: { method, path, headers, body, peer, reply }, rest: waiting.slice(to) };
}
