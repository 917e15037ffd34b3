// An idle hour, where the way allows polls of 5 min: every request and every connection, on a clock that stands still. The hour is the seventh: polls
// have grown to what the way allows by then, which takes two hours and a half. The alternative is the same agent with polls of 20 s, so that what is
// compared is how long polls last and nothing else. With two connections there is no attribute poll, and the attributes are read every 30 s whatever
// the polls do: given beside, as is the first hour.

import { Agent } from "../../src/index.js";
import { writeStored } from "../../src/store.js";
import { fakeHost } from "../../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "../counted.js";
import type { Line, Row } from "../row.js";

const HOUR_MS = 3_600_000;
const SETTLED = 6;
const FIXED_MS = 20_000;
/** A server whose limit allows it; by default it is 30 s. */
const LONGEST_POLL_MS = 600_000;

interface Hour {
  readonly requests: number;
  readonly handshakes: number;
}

interface Compared {
  readonly adaptive: readonly Hour[];
  readonly fixed: readonly Hour[];
}

/** Hour by hour. `fixedMs`: the agent knows that no longer poll comes through. */
async function hours(connections: 2 | 3, fixedMs?: number): Promise<Hour[]> {
  const counted = new Counted(20, LONGEST_POLL_MS);
  const { clock, net } = counted;
  const host = fakeHost({ clock, network: net });
  const to = "false/platform.test";
  if (fixedMs !== undefined) writeStored(host, "poll", { to, ceilingMs: fixedMs, restMs: 52 * HOUR_MS });
  const agent = new Agent(host, { baseUrl: BASE_URL, token: TOKEN, connections });
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  const found: Hour[] = [];
  for (let hour = 0; hour <= SETTLED; hour++) {
    const { requests, handshakes } = counted;
    await clock.advance(HOUR_MS);
    found.push({ requests: counted.requests - requests, handshakes: counted.handshakes - handshakes });
  }
  return found;
}

async function compared(connections: 2 | 3): Promise<Compared> {
  return { adaptive: await hours(connections), fixed: await hours(connections, FIXED_MS) };
}

function lines({ adaptive, fixed }: Compared, hour: number, what: string | undefined): Line[] {
  return (["requests", "handshakes"] as const).map((unit) => ({
    ...(what !== undefined && { what, target: null }),
    unit,
    mote: adaptive[hour]![unit],
    alternative: fixed[hour]![unit],
  }));
}

export const row: Row = {
  id: 10,
  name: "an idle hour, adaptive polls against polls of 20 s",
  target: 1 / 10,
  quick: true,
  exact: async () => {
    const three = (await hours(3))[SETTLED]!;
    const two = (await hours(2))[SETTLED]!;
    return {
      requests: three.requests,
      handshakes: three.handshakes,
      "requests, 2 connections": two.requests,
      "handshakes, 2 connections": two.handshakes,
    };
  },
  run: async () => {
    const three = await compared(3);
    const two = await compared(2);
    return [
      ...lines(three, SETTLED, undefined),
      ...lines(three, 0, "the first hour"),
      ...lines(two, SETTLED, "2 connections"),
    ];
  },
};
