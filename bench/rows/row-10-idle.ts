// An idle hour, where the way allows polls of 5 min: every request and every connection, on a clock that stands still. The hour is the seventh: polls
// have grown to what the way allows by then, which takes two hours and a half. The alternative is the same agent with polls of 20 s, so that what is
// compared is how long polls last and nothing else.

import { Agent } from "../../src/index.js";
import { writeStored } from "../../src/store.js";
import { fakeHost } from "../../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "../counted.js";
import type { Row } from "../row.js";

const HOUR_MS = 3_600_000;
const SETTLED = 6;
const FIXED_MS = 20_000;
/** A server whose limit allows it; by default it is 30 s. */
const LONGEST_POLL_MS = 600_000;

interface Hour {
  readonly requests: number;
  readonly handshakes: number;
}

/** `fixedMs`: the agent knows that no longer poll comes through. */
async function settledHour(fixedMs?: number): Promise<Hour> {
  const counted = new Counted(20, LONGEST_POLL_MS);
  const { clock, net } = counted;
  const host = fakeHost({ clock, network: net });
  const to = "false/platform.test";
  if (fixedMs !== undefined) writeStored(host, "poll", { to, ceilingMs: fixedMs, restMs: 52 * HOUR_MS });
  const agent = new Agent(host, { baseUrl: BASE_URL, token: TOKEN, connections: 3 });
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  await clock.advance(SETTLED * HOUR_MS);
  const { requests, handshakes } = counted;
  await clock.advance(HOUR_MS);
  return { requests: counted.requests - requests, handshakes: counted.handshakes - handshakes };
}

export const row: Row = {
  id: 10,
  name: "an idle hour, adaptive polls against polls of 20 s",
  target: 1 / 10,
  quick: true,
  exact: async () => ({ ...(await settledHour()) }),
  run: async () => {
    const [adaptive, fixed] = [await settledHour(), await settledHour(FIXED_MS)];
    return (["requests", "handshakes"] as const).map((unit) => ({
      unit,
      mote: adaptive[unit],
      alternative: fixed[unit],
    }));
  },
};
