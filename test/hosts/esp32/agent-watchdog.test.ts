import test from "ava";
import { AgentWatchdog } from "../../../hosts/esp32/agent-watchdog.js";
import { fakeHost } from "../../fakes/host.js";

function rig() {
  const host = fakeHost();
  let expected = true;
  const watchdog = new AgentWatchdog(host, 1_800_000, () => expected);
  const open = watchdog.watch(host.open);
  return { host, open, expect: (value: boolean) => (expected = value), clock: host.clock };
}

test("an agent that neither opens nor uses a connection for half an hour restarts the board", async (t) => {
  const { host, clock } = rig();
  await clock.advance(1_800_000);
  t.deepEqual(host.restarts, []);
  await clock.advance(120_000);
  t.deepEqual(host.restarts, ["silent"]);
});

test("an attempt to connect is a sign of life, and so is what happens to it", async (t) => {
  const { host, open, clock } = rig();
  for (let n = 0; n < 10; n++) {
    await clock.advance(1_500_000);
    open("nowhere.test", 80, false, () => {});
  }
  t.deepEqual(host.restarts, []);
});

test("nothing is expected without a network or while the agent is stopped, and the half hour starts again", async (t) => {
  const { host, expect, clock } = rig();
  expect(false);
  await clock.advance(10_000_000);
  expect(true);
  await clock.advance(1_800_000);
  t.deepEqual(host.restarts, []);
});
