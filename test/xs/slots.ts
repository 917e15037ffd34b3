// What the agent keeps does not grow with what it did: slots in use after a garbage collection, to the very slot.
// (Chunks, the bytes of texts and buffers, are not among them: this engine does not show them.)
import type { ExecutionContext } from "ava";
import { testOnXs } from "./engine/on-xs.js";
import { type Still, standStill } from "./engine/still.js";

const RECORD = `globalThis.fromParent = (what, from) => {
  for (let i = from; i < from + 100; i++) agent.telemetry.record({ temperature: 20 + (i % 100) / 10, humidity: 40, count: i });
}`;
const SUBSCRIBE = 'agent.attributes.subscribe("interval", () => {})';
const HANDLE = 'agent.rpc.handle("echo", (params) => params)';

/** Records points by the hundred, each hundred delivered before the next (with one connection: when a poll ends), until there are `total`. */
async function record(still: Still, from: number, total: number): Promise<void> {
  for (let count = from; count < total; count += 100) {
    still.bridge.notify("record", count);
    await still.clock.advance(30_000);
  }
}

async function afterPoints(t: ExecutionContext, still: Still): Promise<void> {
  await record(still, 0, 100);
  const few = await still.slots();
  await record(still, 100, 10_000);
  const many = await still.slots();
  t.is(still.platform.points(still.device, "count").length, 10_000);
  t.is(many, few);
}

/** With so many connections, what points, polls and RPCs leave behind. */
export function slotsStay(connections: 1 | 2 | 3): void {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;

  testOnXs(`${mode}: as many slots after 10,000 points as after 100`, async (t) => {
    await afterPoints(t, await standStill(t, { connections }, RECORD));
  });

  testOnXs(`${mode}: as many slots after 1,000 polls and the looks between them as after 100`, async (t) => {
    const still = await standStill(t, { connections }, SUBSCRIBE);
    await still.clock.runUntil(() => still.polls >= 100, 1e9);
    const few = await still.slots();
    await still.clock.runUntil(() => still.polls >= 1000, 1e9);
    const many = await still.slots();
    // Polls overlap, so reads come after a gap and every 5 min only.
    t.true(still.looks >= 50, `${still.looks}`);
    t.is(many, few);
  });

  testOnXs(`${mode}: as many slots after 100 RPCs as after 10`, async (t) => {
    const still = await standStill(t, { connections }, HANDLE);
    const call = async (from: number, total: number): Promise<void> => {
      for (let n = from; n < total; n++) {
        const results = still.platform.rpc(still.device, "echo", { n });
        await still.clock.runUntil(() => results.length > 0);
        t.is(results[0]?.kind, "answer");
      }
    };
    await call(0, 10);
    const few = await still.slots();
    await call(10, 100);
    t.is(await still.slots(), few);
  });
}

export const slotsStayInMemory = (): void =>
  testOnXs("without a durable queue: as many slots after 10,000 points as after 100", async (t) => {
    await afterPoints(t, await standStill(t, {}, RECORD, 0));
  });
