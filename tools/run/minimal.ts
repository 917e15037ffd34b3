// The default image of `mote run`: uptime and memory. Must stay one module without imports.
import type { Agent } from "../../src/index.js";
import type { ImageHost } from "./image.js";

export const firmware = { title: "mote-minimal", version: "1.0.0" };

/** Telemetry: `uptime` in seconds, `memory` in bytes. RPC: `mote.health`. */
export default function minimal(agent: Agent, host: ImageHost): () => Record<string, unknown> {
  host.publishHealth?.();
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
