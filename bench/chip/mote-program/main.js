// The same work as the bench's other programs do, on Mote.
import config from "mc/config";
import { start } from "mote/board";
import nativeFunctions from "mote/native-functions";
import Timer from "timer";

/** Until another rate is asked for. */
const FIRST_MS = 1000;

class Program {
  #agent;
  #timer;
  #number = 0;

  constructor(agent, host) {
    this.#agent = agent;
    const natives = nativeFunctions();
    agent.attributes.subscribe("setting", () => {});
    agent.rpc.handle("echo", (params) => params);
    agent.rpc.handle("memory", () => ({
      free: host.health.memory().systemFree,
      leastFree: host.health.memory().systemLeast,
      stackLeft: natives.mote_memory(1),
      engineLeft: natives.mote_memory(2),
    }));
    agent.rpc.handle("points", (params) => {
      this.#every(params.ms);
      return params;
    });
    this.#every(FIRST_MS);
  }

  #every(ms) {
    Timer.clear(this.#timer);
    this.#timer = ms > 0 ? Timer.repeat(() => this.#sample(), ms) : undefined;
  }

  #sample() {
    const n = this.#number++;
    this.#agent.telemetry.record({ temperature: 20 + (n % 100) / 10, humidity: 40 + (n % 50) / 10 });
  }
}

/** Of a device that sleeps. */
const sample = () => ({ temperature: 20.5, humidity: 40.5 });

export default function main() {
  start({ application: (agent, host) => (config.cycle ? sample : new Program(agent, host)) });
}
