// When a refused device asks again, by the gate alone: what a start makes of what is stored.
import test from "ava";
import { RefusalGate } from "../../../../src/agent/provisioning/refusal-gate.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";

const BASE = "http://platform.test";
const WALL = Date.UTC(2026, 0, 1);

/** The next start on the same store, `later` ms on the clock that people use; undefined: it does not know the time. */
function start(store: FakeStore, later: number | undefined) {
  const host = fakeHost({ store, clock: new FakeClock(later === undefined ? undefined : WALL + later) });
  return { host, gate: new RefusalGate(host, BASE) };
}

function refused(): { store: FakeStore; ms: number; stored: Record<string, unknown> } {
  const store = new FakeStore();
  const { gate } = start(store, 0);
  t0(gate.begin("me"));
  let ms = 0;
  for (let i = 0; i < 9; i++) ms = gate.refused("unknown");
  const stored = JSON.parse(
    Buffer.from(store.get("refused") ?? [])
      .subarray(1)
      .toString(),
  );
  return { store, ms, stored };
}

function t0(waits: boolean): void {
  if (waits) throw new Error("a gate without a past waits");
}

test("a start goes on with what is left of the wait", (t) => {
  const { store, ms } = refused();
  for (const [later, left] of [
    [0, ms],
    [1000, ms - 1000],
    [ms - 1, 1],
    [ms, 0],
    [ms * 9, 0],
    // A clock that was set back must not make it longer.
    [-1e9, ms],
  ] as const) {
    const { gate } = start(store, later);
    t.is(gate.begin("me"), left > 0, `${later}`);
    t.is(gate.wait, left, `${later}`);
    t.is(gate.count, 9);
  }
});

test("who does not know how long it was off waits a part of it", (t) => {
  const { store, ms, stored } = refused();
  const { gate } = start(store, undefined);
  t.true(gate.begin("me"));
  t.true(gate.wait > 0 && gate.wait < ms, `${gate.wait} of ${ms}`);
  // Nor does who was refused without knowing the time.
  put(store, { ...stored, at: undefined });
  const next = start(store, 1000).gate;
  t.true(next.begin("me"));
  t.true(next.wait > 0 && next.wait < ms - 1000, `${next.wait} of ${ms}`);
});

test("another token, or another platform, is asked about at once", (t) => {
  const { store, stored } = refused();
  const { gate } = start(store, 0);
  t.false(gate.begin("somebody else"));
  t.deepEqual([gate.wait, gate.count], [0, 0]);
  put(store, { ...stored, url: "http://other.test" });
  const other = start(store, 0).gate;
  t.false(other.begin("me"));
  t.deepEqual([other.wait, other.count], [0, 0]);
});

test("what makes no sense holds nobody back", (t) => {
  const { store, stored } = refused();
  for (const change of [
    { count: "9" },
    { count: 1.5 },
    { ms: "1000" },
    { ms: null },
    { ms: undefined },
    { ms: [1000] },
    { ms: -1 },
    { ms: 600_001 },
  ]) {
    put(store, { ...stored, ...change });
    const { gate } = start(store, 0);
    t.false(gate.begin("me"), JSON.stringify(change));
    t.deepEqual([gate.wait, gate.count], [0, 0], JSON.stringify(change));
  }
  put(store, { ...stored, count: -3, ms: 600_000 });
  const { gate } = start(store, 0);
  t.true(gate.begin("me"));
  t.deepEqual([gate.wait, gate.count], [600_000, 0]);
});

function put(store: FakeStore, value: object): void {
  store.values.set("refused", new Uint8Array([1, ...new TextEncoder().encode(JSON.stringify(value))]));
}
