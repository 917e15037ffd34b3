// What the emulated chip runs in the tests: the sample application, points that are numbered, and ways to fail on request.
import config from "mc/config";
import { start } from "mote/board";
import { commission } from "mote/commission";
import nativeFunctions from "mote/native-functions";
import app from "mote-app";
import Timer from "timer";

const PER_START = 1_000_000;

const FAULTS = {
  throw: () => {
    throw new Error("on purpose");
  },
  panic: () => nativeFunctions().abort(),
  hang: () => {
    for (;;);
  },
  // Objects, and buffers: the two kinds of memory that the engine has.
  slots: () => {
    for (let all = {}; ; all = { all });
  },
  chunks: () => {
    for (const all = []; ; ) all.push(new ArrayBuffer(1000));
  },
};

function application(agent, host) {
  const result = app(agent, host);
  host.log(
    "info",
    `chip: ${config.firmware.version} runs, reset ${host.lastRun.reset}, crash ${host.lastRun.crash}`,
  );
  agent.rpc.handle("fault", ({ kind }) => {
    Timer.set(FAULTS[kind], 200);
    return { kind };
  });
  const native = nativeFunctions();
  agent.rpc.handle("memory", () => ({
    free: host.health.memory().systemFree,
    leastFree: host.health.memory().systemLeast,
    largest: native.mote_memory(0),
    stackLeft: native.mote_memory(1),
    engineLeft: native.mote_memory(2),
    tlsStackLeft: native.mote_tls(0),
    full: native.mote_tls(2),
    resumed: native.mote_tls(3),
  }));
  agent.rpc.handle("unplug", ({ seconds }) => {
    Timer.set(() => native.mote_ethernet_plug(0), 500);
    Timer.set(() => native.mote_ethernet_plug(1), 1000 * seconds);
    return { seconds };
  });
  if (config.numbered) number(agent, host);
  if (config.fault !== undefined) FAULTS[config.fault]();
  return result;
}

/** Points of increasing numbers, each logged on the console once it was accepted. */
function number(agent, host) {
  const key = "chip-starts";
  const kept = host.store.get(key);
  const starts = kept === undefined ? 1 : (kept[0] << 8) + kept[1] + 1;
  host.store.set(key, Uint8Array.of(starts >> 8, starts & 255));
  let n = starts * PER_START;
  Timer.repeat(() => {
    agent.telemetry.record({ n });
    host.log("info", `chip: accepted ${n}`);
    n += 1;
  }, config.numbered);
}

export default function main() {
  start({ application, extras: [commission] });
}
