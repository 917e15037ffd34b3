// What the emulated chip runs in the test of renewed trust: the sample application, and figures of its memory on request.
import { start } from "mote/board";
import { commission } from "mote/commission";
import nativeFunctions from "mote/native-functions";
import { renewTrust } from "mote/trust";
import app from "mote-app";

function application(agent, host) {
  const native = nativeFunctions();
  agent.rpc.handle("memory", () => ({
    free: host.health.memory().systemFree,
    leastFree: host.health.memory().systemLeast,
    largest: native.mote_memory(0),
    stackLeft: native.mote_memory(1),
    engineLeft: native.mote_memory(2),
    full: native.mote_tls(2),
    resumed: native.mote_tls(3),
  }));
  return app(agent, host);
}

export default function main() {
  start({ application, extras: [commission, renewTrust] });
}
