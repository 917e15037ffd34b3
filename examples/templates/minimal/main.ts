import { type Application, start } from "mote/board";
import { commission } from "mote/commission";

const application: Application = (agent, host) => {
  const sample = (): void => {
    host.clock.timer(host.settings.intervalMs, sample);
    agent.telemetry.record({ upSeconds: Math.round(host.clock.now() / 1000) });
  };
  sample();
};

export default function main(): void {
  start({ application, extras: [commission] });
}
