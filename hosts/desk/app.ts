// The desk demo's firmware image. It is bundled alone, once for each version, and takes nothing but types from the agent and the host.
//
// Telemetry: temperature, humidity; from 2.0.0 on pressure too; upSeconds, points with every tenth of them. Client attributes: serial, starts, app, intervalMs, led.
// Shared attribute: interval (seconds between two points).
// RPC: setLed {on}, getStatus, echo, burst {points}, report, callPlatform {method, params}, readAttributes {clientKeys, sharedKeys},
// claim {secretKey, durationMs}.
import type { Agent } from "../../src/index.js";
import type { ImageHost } from "../node/image.js";
import { type Desk, handleMethods } from "./app/methods.js";
import { intervalOf, LIMITS, Sampler } from "./app/sampler.js";
import { countStart } from "./app/starts.js";
import { Room } from "./app/weather.js";

/** Set by the build. */
declare const VERSION: string;

const version = typeof VERSION === "undefined" ? "1.0.0" : VERSION;
const second = version !== "1.0.0";
/** Readings to one report of the device's own health. */
const HEALTH_EVERY = 10;
const colour = second ? "blue" : "green";

export const firmware = { title: "desk", version };

/** Sets the application up; the agent is started afterwards. */
export default function desk(agent: Agent, host: ImageHost): void {
  const room = new Room(host);
  const began = host.clock.now();
  const ownMs = Math.min(LIMITS.most, Math.max(LIMITS.least, host.settings.intervalMs));
  let points = 0;
  let led = false;

  const sample = (): void => {
    const { temperature, humidity, pressure } = room.next();
    agent.telemetry.record(second ? { temperature, humidity, pressure } : { temperature, humidity });
    points++;
  };
  const health = (): void => {
    agent.telemetry.record({ upSeconds: Math.floor((host.clock.now() - began) / 1000), points });
  };
  const sampler = new Sampler(host.clock, ownMs, () => {
    try {
      sample();
      if (points % HEALTH_EVERY === 0) health();
    } catch (error) {
      host.log("warn", `a point was not recorded: ${error instanceof Error ? error.message : "unknown"}`);
    }
  });

  agent.attributes.publish({
    serial: `D-${host.hardwareId.slice(-6)}`,
    app: version,
    intervalMs: ownMs,
    led,
  });
  const starts = countStart(host);
  if (starts !== undefined) agent.attributes.publish({ starts });
  agent.attributes.subscribe("interval", (value) => {
    const intervalMs = value === undefined ? ownMs : (intervalOf(value) ?? sampler.intervalMs);
    if (intervalMs === sampler.intervalMs) return;
    sampler.every(intervalMs);
    agent.attributes.publish({ intervalMs });
  });

  const methods: Desk = {
    status: () => ({
      version,
      led: led ? colour : "off",
      intervalMs: sampler.intervalMs,
      points,
      upMs: Math.round(host.clock.now() - began),
    }),
    setLed: (on) => {
      led = on;
      agent.attributes.publish({ led });
      return { on, colour };
    },
    sample,
    health,
  };
  handleMethods(agent, host, methods);
}
