// A TCP proxy before the platform that can spoil single exchanges, for what a lawful platform never does.

import { createServer, connect as dial, type Socket } from "node:net";
import { listen } from "../fakes/listen.js";

/** What to do with a request, by its first line: pass it on, answer in the platform's place, or swallow the platform's answer. */
export type Verdict = "pass" | "swallow" | { readonly answer: string };

export interface Proxy {
  readonly url: string;
  /** Replaces the rule; until then everything passes. */
  rule(judge: (requestLine: string) => Verdict): void;
  close(): Promise<void>;
}

/** Each request of a kept connection is judged; a request must arrive in one piece (Mote's do). */
export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const name = hostname.replace(/^\[|\]$/g, "");
  let judge: (requestLine: string) => Verdict = () => "pass";
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = dial(Number(port || 80), name);
    let swallowing = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.on("data", (bytes) => {
      const line = bytes.toString("latin1").split("\r\n", 1)[0] ?? "";
      const verdict = /^(GET|POST) /.test(line) ? judge(line) : "pass";
      if (typeof verdict === "object") {
        client.write(verdict.answer);
        return;
      }
      swallowing = verdict === "swallow";
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (!swallowing) client.write(bytes);
    });
    client.on("close", () => {
      sockets.delete(client);
      upstream.destroy();
    });
    upstream.on("close", () => {
      sockets.delete(upstream);
      client.destroy();
    });
  });
  const own = await listen(server);
  return {
    url: `http://127.0.0.1:${own}`,
    rule: (next) => {
      judge = next;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
