// One connection to a peer in memory.
import type { ExecutionContext } from "ava";
import { Connection } from "../../../src/http/connection.js";
import type { Outcome } from "../../../src/http/outcome.js";
import type { Request } from "../../../src/http/request.js";
import { parseTarget, type Target } from "../../../src/http/target.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import type { NetOptions } from "../../fakes/net.js";
import { serve } from "../../fakes/server.js";

export function targetOf(url: string): Target {
  const parsed = parseTarget(url);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.target;
}

export const TARGET = targetOf("http://platform.example:8080/base");
export const GET: Request = { method: "GET", path: "/x", deadlineMs: 10_000, limit: 1024, repeatable: true };
export const POST: Request = { ...GET, method: "POST", body: new TextEncoder().encode('{"a":1}') };

export function rig(net: NetOptions = {}): { host: FakeHost; connection: Connection } {
  const host = fakeHost({ net });
  return { host, connection: new Connection(host, TARGET) };
}

/** A rig whose peer answers each request with 200. */
export function answering(net: NetOptions = {}): ReturnType<typeof rig> {
  const made = rig(net);
  serve(made.host.net, (request) => request.reply(200));
  return made;
}

/** Sends, lets time pass until it is over, and gives the outcome. */
export async function sendOn(host: FakeHost, connection: Connection, request: Request): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  connection.send(request, (outcome) => outcomes.push(outcome));
  await host.clock.runUntil(() => outcomes.length > 0);
  return outcomes[0]!;
}

export function isLost(t: ExecutionContext, outcome: Outcome | undefined, reason: string): void {
  t.is(outcome?.kind === "lost" ? outcome.reason : outcome?.kind, reason);
}

export const bodyOf = (outcome: Outcome): string =>
  outcome.kind === "done" || outcome.kind === "refused" ? Buffer.from(outcome.body).toString() : "";
