// What the emulated chip runs for the promises of the port: no agent, a program that does what its test asks for.

import { Guest } from "guest";
import config from "mc/config";
import { start } from "mote/board";
import nativeFunctions from "mote/native-functions";

export default function main() {
  const native = nativeFunctions();
  // An application's host has neither sockets nor slot: the one that the board made is tested.
  let host;
  const diagnostics = (machine, createHost) => {
    host = createHost(machine);
    return { host };
  };
  const application = () => {
    const begin = () =>
      new Guest({
        host,
        control: config.control,
        figures: () => ({
          free: host.freeMemory(),
          leastFree: host.leastFreeMemory(),
          largest: native.mote_memory(0),
          engineLeft: native.mote_memory(2),
          tlsStackLeft: native.mote_tls(0),
          connections: native.mote_tls(1),
          full: native.mote_tls(2),
          resumed: native.mote_tls(3),
          failed: native.mote_tls(4),
        }),
        stop: () => {
          throw new Error("a board restarts by its power here");
        },
      });
    host.clock.timer(1000, () => void agent.stop().then(begin));
  };
  const agent = start({ application, extras: [{ diagnostics }] });
}
