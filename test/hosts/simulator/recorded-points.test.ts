// What the simulator's status screen sees of an application, without the simulator.
import test from "ava";
import { observePoints } from "../../../hosts/simulator/recorded-points.js";
import type { Agent } from "../../../src/index.js";

test("the screen sees the points from before it was loaded, and each later one", (t) => {
  const kept: unknown[] = [];
  const telemetry = { record: (values: unknown) => kept.push(values) > 0 };
  const observe = observePoints({ telemetry } as unknown as Agent);
  t.true(telemetry.record({ a: 1 }));
  const seen: unknown[] = [];
  observe((values) => seen.push(values));
  telemetry.record({ a: 2 });
  t.deepEqual(seen, [{ a: 1 }, { a: 2 }]);
  t.deepEqual(kept, seen);
});
