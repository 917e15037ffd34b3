// What the emulated chip runs in the test of the kept lines: the sample application, a line on request, and two ways to crash.
import { start } from "mote/board";
import { commission } from "mote/commission";
import { diagnostics } from "mote/diagnostics";
import nativeFunctions from "mote/native-functions";
import app from "mote-app";
import Timer from "timer";

const FAULTS = {
  throw: () => {
    throw new Error("on purpose");
  },
  panic: () => nativeFunctions().abort(),
};

function application(agent, host) {
  agent.rpc.handle("say", ({ line }) => {
    host.log("warn", line);
    return {};
  });
  agent.rpc.handle("fault", ({ kind }) => {
    Timer.set(FAULTS[kind], 200);
    return { kind };
  });
  return app(agent, host);
}

export default function main() {
  start({ application, extras: [commission, diagnostics] });
}
