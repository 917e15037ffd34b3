import type { NetworkInterfaceInfo } from "node:os";
import test from "ava";
import { watchNetwork } from "../../../hosts/node/network.js";
import { FakeClock } from "../../fakes/clock.js";

const one = (address: string, internal = false) => [{ address, internal } as NetworkInterfaceInfo];

test("an address that was not there before is a network that returned; one that goes, and the loopback, are not", async (t) => {
  const clock = new FakeClock(0);
  let now: NodeJS.Dict<NetworkInterfaceInfo[]> = { lo: one("127.0.0.1", true), eth0: one("192.0.2.7") };
  let returned = 0;
  const end = watchNetwork(
    clock,
    () => returned++,
    () => now,
  );
  const becomes = async (next: typeof now) => {
    now = next;
    await clock.advance(5000);
    return returned;
  };
  t.is(await becomes({ ...now }), 0);
  t.is(await becomes({ lo: one("127.0.0.1", true) }), 0);
  t.is(await becomes({ lo: one("127.0.0.2", true) }), 0);
  t.is(await becomes({ eth0: one("192.0.2.7") }), 1);
  t.is(await becomes({ eth0: one("192.0.2.8") }), 2);
  t.is(await becomes({ eth0: one("192.0.2.8"), wlan0: one("192.0.2.8") }), 3);
  end();
  t.is(await becomes({ eth0: one("192.0.2.9") }), 3);
});

test("a system that does not say is asked again", async (t) => {
  const clock = new FakeClock(0);
  let fails = true;
  let returned = 0;
  const end = watchNetwork(
    clock,
    () => returned++,
    () => {
      if (fails) throw new Error("no such call");
      return { eth0: one("192.0.2.7") };
    },
  );
  await clock.advance(20_000);
  fails = false;
  await clock.advance(5000);
  t.is(returned, 1);
  end();
});
