import type { Agent } from "mote";
import type { AppHost } from "mote/board";
import { Alarms } from "mote/report-on-change";
import { slider } from "mote/simulated";

/** Title and version on the platform. */
export const firmware = { title: "{{NAME}}", version: "1.0.0" };

/** Your sensor: replace this line by the code that reads it. Returns °C. */
const temperature = slider("temperature", { least: -20, most: 60, value: 21 });

/** Called once, before the agent connects. */
export default function main(agent: Agent, host: AppHost): void {
  const alarms = new Alarms(host, { temperature: { above: 30, hysteresis: 1 } });
  // Values of at most 4,000 bytes survive a restart.
  const starts = ((host.store.get("starts")?.[0] ?? 0) + 1) % 256;
  host.store.set("starts", Uint8Array.of(starts));
  agent.attributes.publish({ starts });

  agent.rpc.handle("getTemperature", () => ({ temperature: temperature() }));

  setInterval(() => {
    const values = { temperature: temperature() };
    alarms.check(values);
    // True from above 30 °C until the temperature is down to 29 °C.
    const tooWarm = alarms.isRaised("temperature");
    agent.telemetry.record({ ...values, tooWarm });
    host.log(tooWarm ? "warn" : "info", `${values.temperature} °C${tooWarm ? ": too warm" : ""}`);
  }, host.settings.intervalMs);
}
