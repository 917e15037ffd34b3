// From start to the first acknowledged point, token and clock known, plain HTTP, in round trips: one to connect, one to ask. The point waits when the agent starts,
// and the way takes 250 ms in each direction, so that the time is nearly all travel; what an agent waits by choice (`batchAgeMs`, 1 s) is left out and given beside.
import { Agent } from "../../src/index.js";
import { fakeHost } from "../../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "../counted.js";
import type { Row } from "../row.js";

const LATENCY_MS = 250;

/** Milliseconds from start to acknowledgement, over those of a round trip. */
async function roundTrips(connections: 1 | 2 | 3, batchAgeMs: number): Promise<number> {
  const counted = new Counted(LATENCY_MS);
  const { clock, net } = counted;
  const host = fakeHost({ clock, network: net });
  const telemetry = { batchAgeMs };
  const agent = new Agent(host, { baseUrl: BASE_URL, token: TOKEN, connections, telemetry });
  let isDelivered = false;
  agent.on("delivered", () => {
    isDelivered = true;
  });
  agent.attributes.subscribe("interval", () => {});
  agent.telemetry.record({ temperature: 21.5 });
  agent.start();
  return (await clock.runUntil(() => isDelivered)) / (2 * LATENCY_MS);
}

export const row: Row = {
  id: 12,
  name: "start to the first acknowledged point",
  target: 2,
  better: "less",
  quick: true,
  exact: async () => ({
    "round trips": Math.max(await roundTrips(1, 0), await roundTrips(2, 0), await roundTrips(3, 0)),
  }),
  run: async () => [
    { what: "1 connection", unit: "round trips", mote: await roundTrips(1, 0) },
    { what: "2 connections", unit: "round trips", mote: await roundTrips(2, 0) },
    { what: "3 connections", unit: "round trips", mote: await roundTrips(3, 0) },
    { what: "batchAgeMs included", unit: "round trips", mote: await roundTrips(2, 1000), target: null },
  ],
};
