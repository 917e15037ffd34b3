// What the emulated chip runs for the promises of the port: no agent, a program that does what its test asks for.

import { Guest } from "guest";
import config from "mc/config";
import { start } from "mote/board";

export default function main() {
  const agent = start((_agent, host) => {
    const begin = () =>
      new Guest({
        host,
        control: config.control,
        stop: () => {
          throw new Error("a board restarts by its power here");
        },
      });
    host.clock.timer(1000, () => void agent.stop().then(begin));
  });
}
