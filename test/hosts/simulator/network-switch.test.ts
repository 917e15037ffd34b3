// The panel's network switch, without the simulator.
import test from "ava";
import { NetworkSwitch } from "../../../hosts/simulator/network-switch.js";
import type { Clock, SocketEvent } from "../../../src/port.js";

test("off closes the open connections and opens no other until it is on again", (t) => {
  const timers: (() => void)[] = [];
  const timer = (_: number, call: () => void) => {
    timers.push(call);
    return () => {};
  };
  const clock = { timer } as unknown as Clock;
  const network = new NetworkSwitch(clock);
  let closed = 0;
  let opened = 0;
  const open = network.watch(() => {
    opened++;
    return { write: () => 1, read: () => 0, close: () => void closed++ };
  });
  const events: SocketEvent[] = [];
  const line = open("server", 80, false, (event) => events.push(event));
  const other = open("server", 80, false, () => t.fail("the agent closed it"));
  other.close();
  t.is(line.write(new Uint8Array(1)), 1);
  network.toggle();
  t.deepEqual([events, closed, network.isOff], [["closed"], 2, true]);
  const refused: SocketEvent[] = [];
  t.is(open("server", 80, false, (event) => refused.push(event)).write(new Uint8Array(1)), 0);
  for (const call of timers) call();
  t.deepEqual([refused, opened], [["closed"], 2]);
  network.toggle();
  open("server", 80, false, () => {});
  t.is(opened, 3);
});
