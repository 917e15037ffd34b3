// An agent with nothing on it, or none at all (an interval of 0), collected so often that what the instruments show is what is kept.

import files from "embedded:storage/files";
import Debug from "debug";
import { Agent } from "mote";
import { createHost, readSettings } from "mote-simulator";
import Timer from "timer";

const COLLECT_MS = 40;

export default function main() {
  const { agent: options, authorities, intervalMs } = readSettings(files);
  const host = createHost(files, { authorities: authorities.map((text) => Uint8Array.fromBase64(text)) });
  if (intervalMs > 0) {
    const agent = new Agent(host, options);
    agent.on("online", () => trace('@event {"event":"online"}\n'));
    agent.on("firmware", ({ state }) => trace(`@event {"event":"firmware","state":"${state}"}\n`));
    agent.start();
  }
  Timer.repeat(() => Debug.gc(), COLLECT_MS);
}
