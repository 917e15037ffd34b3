// The turns of a loop.
import test from "ava";
import { Events } from "../../../src/events.js";
import { parseTarget } from "../../../src/http/target.js";
import { PlatformSession } from "../../../src/platform/session.js";
import { fakeHost } from "../../fakes/host.js";

test("a clock that has no timer left once does not silence a loop for good", async (t) => {
  const host = fakeHost();
  const target = parseTarget("http://platform.test");
  if (!target.ok) throw new Error(target.reason);
  let timers = 0;
  const clock = {
    now: () => host.clock.now(),
    timer: (ms: number, call: () => void) => {
      if (++timers === 1) throw new Error("no timer left");
      return host.clock.timer(ms, call);
    },
  };
  const session = new PlatformSession({ ...host, clock } as typeof host, target.target, 2, new Events(host));
  let begun = 0;
  session.start();
  session.loop("test", { begin: () => void begun++, turn: () => 1000 }).start();
  await host.clock.advance(9000);
  t.is(begun, 1);
  await host.clock.advance(2000);
  t.is(begun, 2);
});
