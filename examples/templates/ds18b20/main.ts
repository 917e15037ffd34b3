import { type Application, start } from "mote/board";
import { commission } from "mote/commission";
import { Thermometer } from "thermometer";

const application: Application = (agent, host) => {
  const thermometer = new Thermometer();
  let state = "";

  const report = (sensor: string): void => {
    if (sensor === state) return;
    state = sensor;
    agent.attributes.publish({ sensor });
    if (sensor !== "ok") host.log("warn", sensor);
  };
  const sample = (): void => {
    host.clock.timer(host.settings.intervalMs, sample);
    thermometer.read((reading) => {
      if (typeof reading === "string") return report(reading);
      report("ok");
      agent.telemetry.record({ temperature: reading });
      host.log("info", `${reading} °C`);
    });
  };
  sample();
};

export default function main(): void {
  start({ application, extras: [commission] });
}
