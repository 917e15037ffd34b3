// The default image of `mote run`: uptime and memory. Must stay one module without imports.
import type { AppHost } from "../../hosts/device/application.js";
import type { Agent } from "../../src/index.js";

export const firmware = { title: "mote-minimal", version: "1.0.0" };

/** Telemetry: `uptime` in seconds, `memory` in bytes. */
export default function minimal(agent: Agent, host: AppHost): () => Record<string, unknown> {
  const reading = () => ({ uptime: Math.round(process.uptime()), memory: process.memoryUsage.rss() });
  if (host.settings.sleeps) return reading;
  setInterval(() => {
    try {
      agent.telemetry.record(reading());
    } catch {
      host.log("warn", "a point was not recorded");
    }
  }, host.settings.intervalMs);
  return reading;
}
