// Strategies on the XS engine: the same decisions as on Node, in memory that does not grow with the values.
import type { ExecutionContext } from "ava";
import { Strategies, type StrategiesAgent } from "../../extras/strategies/index.js";
import { FakeClock, settle } from "../fakes/clock.js";
import { type FakeHost, fakeHost } from "../fakes/host.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";

const VALUES = 10_000;
/** Bytes of a slot on an ESP32. */
const SLOT = 16;

/** An agent that only counts: what is recorded goes nowhere. The same text runs on both engines. */
const AGENT = `({
  telemetry: {
    check: (values) => host.encode(JSON.stringify(values)),
    record: (values) => { seen.sum = seen.sum * 31 % 65521 + JSON.stringify(values).length; seen.points++; return true; },
  },
  attributes: { subscribe: (key, call) => { agentSide.set = call; return () => {}; }, publish: () => {} },
  on: () => () => {},
})`;
const ENTRY = `import { Strategies } from "./extras/strategies/index.ts";
  globalThis.Strategies = Strategies;
  globalThis.seen = { sum: 0, points: 0 };
  globalThis.agentSide = {};
  globalThis.fromParent = (what, n) => strategies.record(JSON.parse(what));`;
const KEYS = {
  band: { onChange: 0.3, onChangePercent: 2 },
  beat: { heartbeatMs: 30_000 },
  power: { windowMs: 60_000 },
  all: { onChange: 1, heartbeatMs: 20_000, windowMs: 10_000 },
  mode: { onChange: 0 },
};

const valuesAt = (n: number): Record<string, unknown> => ({
  band: Math.round(Math.sin(n / 50) * 1000) / 100,
  beat: n % 97,
  power: (n % 13) / 8,
  all: Math.round(Math.cos(n / 30) * 500) / 100,
  mode: n % 40 < 20 ? "auto" : "hand",
  free: n % 500 === 0,
});

async function onXs(t: ExecutionContext): Promise<{ bridge: Bridge; clock: FakeClock; host: FakeHost }> {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const host = fakeHost({ clock });
  const bridge = await Bridge.start(host, { entry: ENTRY });
  clock.settled = async () => {
    await settle();
    await bridge.idle();
  };
  t.teardown(() => bridge.close());
  return { bridge, clock, host };
}

const make = (keys: object): string =>
  `globalThis.strategies = new Strategies(${AGENT}, host, { keys: ${JSON.stringify(keys)}, attribute: "report" })`;

testOnXs(
  `strategies hold as many slots and chunks after ${VALUES} values of each key as after 100`,
  async (t) => {
    const { bridge, clock } = await onXs(t);
    await bridge.run(`${make(KEYS)}; undefined`);
    const seen = { sum: 0, points: 0 };
    const agentSide = {};
    const reference = referenceOnNode(seen, agentSide);
    let few = 0;
    let fewChunks = 0;
    for (let n = 0; n < VALUES; n++) {
      const values = valuesAt(n);
      bridge.notify(JSON.stringify(values), n);
      reference.record(values);
      await Promise.all([clock.advance(500), reference.clock.advance(500)]);
      if (n === 99 || n === VALUES - 1) {
        // At the same place of the windows and of the texts.
        const [slots, chunks] = [await bridge.slots(), await bridge.chunks()];
        if (n === 99) [few, fewChunks] = [slots, chunks];
        else {
          t.is(slots, few);
          t.is(chunks, fewChunks);
        }
      }
    }
    t.true(seen.points > 1000);
    t.deepEqual(await bridge.run("seen"), seen);
  },
);

function referenceOnNode(seen: object, agentSide: object) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  clock.settled = () => Promise.resolve();
  const host = fakeHost({ clock });
  const agent = new Function("host", "seen", "agentSide", `return ${AGENT}`)(host, seen, agentSide);
  const strategies = new Strategies(agent as StrategiesAgent, host, { keys: KEYS, attribute: "report" });
  return { clock, record: (values: Record<string, unknown>) => strategies.record(values) };
}

testOnXs(
  "a key takes less than 700 bytes on a board, with all its strategies, a window under way and a text",
  async (t) => {
    const { bridge } = await onXs(t);
    const keysOf = (many: number) =>
      Object.fromEntries(
        Array.from({ length: many }, (_, i) => [
          `key${i}`,
          { onChange: 1.5, onChangePercent: 2.5, heartbeatMs: 60_000, windowMs: 60_000 },
        ]),
      );
    const measured: [number, number][] = [];
    for (const many of [2, 32]) {
      await bridge.run(`${make(keysOf(many))}; undefined`);
      for (const value of [1.25, "a text of forty characters, more or less"])
        await bridge.run(
          `strategies.record(Object.fromEntries(Array.from({ length: ${many} }, (_, i) => ["key" + i, ${JSON.stringify(value)}])))`,
        );
      measured.push([await bridge.slots(), await bridge.chunks()]);
      await bridge.run("strategies.close(); globalThis.strategies = undefined");
    }
    const [[slots, chunks], [moreSlots, moreChunks]] = measured as [[number, number], [number, number]];
    const [slotsEach, chunksEach] = [(moreSlots - slots) / 30, (moreChunks - chunks) / 30];
    t.log(`${slotsEach.toFixed(1)} slots and ${Math.round(chunksEach)} bytes of chunks a key`);
    t.true(slotsEach > 10 && slotsEach * SLOT + chunksEach < 700, `${slotsEach}, ${chunksEach}`);
  },
);
