import { MoteError } from "mote";
import { type Application, start } from "mote/board";
import { commission } from "mote/commission";
import { Relay } from "relay";

/** A caller can switch the relay on for at most one day. */
const MOST_SECONDS = 86_400;

const application: Application = (agent, host) => {
  const relay = new Relay();
  let isOn = false;
  let cancel = (): void => {};

  const set = (on: boolean): void => {
    cancel();
    isOn = on;
    relay.write(on);
    agent.attributes.publish({ relay: on });
  };
  agent.attributes.publish({ relay: false });

  // RPC: { "on": true }, or { "on": true, "seconds": 30 } to switch off again by itself.
  agent.rpc.handle<{ on?: unknown; seconds?: unknown } | null>("setRelay", (params) => {
    const { on, seconds = 0 } = params ?? {};
    if (typeof on !== "boolean") throw new MoteError("BAD_PARAMS", "on must be true or false");
    if (typeof seconds !== "number" || seconds < 0 || seconds > MOST_SECONDS)
      throw new MoteError("BAD_PARAMS", `seconds must be 0 to ${MOST_SECONDS}`);
    set(on);
    if (on && seconds > 0) cancel = host.clock.timer(seconds * 1000, () => set(false));
    return { on };
  });
  agent.rpc.handle("getRelay", () => ({ on: isOn }), { once: false });
};

export default function main(): void {
  start({ application, extras: [commission] });
}
