// What a platform gets of 10,000 devices that it refuses.
import test from "ava";
import { RefusalGate } from "../../../../src/agent/provisioning/refusal-gate.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";

/** Attempts of `devices` in each second of `hours`, each refused as soon as it comes. */
function attempts(devices: number, spreadMs: number, hours: number): number[] {
  const seconds = new Array<number>(hours * 3600).fill(0);
  for (let n = 0; n < devices; n++) {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const host = fakeHost({ clock, seed: n + 1, store: new FakeStore() });
    const gate = new RefusalGate(host, "http://platform.test");
    gate.begin("token");
    let at = (spreadMs * n) / devices;
    while (at < hours * 3_600_000) {
      seconds[Math.floor(at / 1000)]!++;
      at += gate.refused("unknown");
    }
  }
  return seconds;
}

test("10,000 refused devices: the busiest second", (t) => {
  for (const [how, spreadMs] of [
    ["started together", 0],
    ["spread over 60 s", 60_000],
  ] as const) {
    const seconds = attempts(10_000, spreadMs, 2);
    const most = (from: number) => Math.max(...seconds.slice(from));
    t.log(
      `${how}: ${most(0)} in the busiest second, ${most(60)} after 1 min, ${most(600)} after 10 min, ${most(3600)} after 1 h`,
    );
    t.true(most(0) <= (spreadMs === 0 ? 26_000 : 1500), `${most(0)}`);
    t.true(most(3600) < 100, `${most(3600)}`);
  }
});
