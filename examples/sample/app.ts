// The sample application, the same on a board, in the simulator and on Node. Of the agent and the host it takes types alone, beside what is optional.
//
// Telemetry: temperature, humidity; from 2.0.0 on pressure too; upSeconds, points, version with every tenth of them. Client attributes: serial, starts, app, intervalMs, led.
// Shared attributes: interval (seconds between two readings).
// RPC: setLed {on}, getStatus, echo, burst {points}, report, callPlatform {method, params}, readAttributes {clientKeys, sharedKeys},
// claim {secretKey, durationMs}.

import type { AppHost } from "../../hosts/device/application.js";
import type { Agent } from "../../src/index.js";
import { handleMethods, type SampleApplication } from "./methods.js";
import { intervalOf, LIMITS, Sampler } from "./sampler.js";
import { countStart } from "./starts.js";
import { Room } from "./weather.js";

/** Set by the build of an image. */
declare const VERSION: string;

/** Readings to one report of the device's own health. */
const HEALTH_EVERY = 10;

export const firmware = {
  title: "sample",
  version: typeof VERSION === "undefined" ? "1.0.0" : VERSION,
  // Short, for the tour. Leave it out in a product: the default is a minute.
  trialMs: 2000,
};

/** Sets the application up; the agent is started afterwards. Returns what records a sample, for a machine that sleeps in between. */
export default function setUp(agent: Agent, host: AppHost): () => void {
  const application = new Application(agent, host);
  handleMethods(agent, host, application);
  return () => application.sample();
}

class Application implements SampleApplication {
  private readonly _agent: Agent;
  private readonly _host: AppHost;
  private readonly _room: Room;
  private readonly _sampler: Sampler;
  private readonly _version: string;
  private readonly _second: boolean;
  private readonly _colour: string;
  private readonly _began: number;
  private _points = 0;
  private _led = false;

  constructor(agent: Agent, host: AppHost) {
    this._agent = agent;
    this._host = host;
    this._room = new Room(host);
    this._version = host.settings.version ?? firmware.version;
    this._second = this._version !== "1.0.0";
    this._colour = this._second ? "blue" : "green";
    this._began = host.clock.now();
    const ownMs = Math.min(LIMITS.most, Math.max(LIMITS.least, host.settings.intervalMs));
    this._sampler = new Sampler(host.clock, ownMs, () => this._due());
    if (host.settings.sleeps) this._sampler.stop();
    const serial = `D-${host.hardwareId.slice(-6)}`;
    agent.attributes.publish({ serial, app: this._version, intervalMs: ownMs, led: false });
    const starts = host.settings.sleeps ? undefined : countStart(host);
    if (starts !== undefined) agent.attributes.publish({ starts });
    agent.attributes.subscribe("interval", (value) => this._every(value, ownMs));
  }

  status(): Record<string, unknown> {
    return {
      version: this._version,
      led: this._led ? this._colour : "off",
      intervalMs: this._sampler.intervalMs,
      points: this._points,
      upMs: Math.round(this._host.clock.now() - this._began),
    };
  }

  setLed(on: boolean): Record<string, unknown> {
    this._led = on;
    this._agent.attributes.publish({ led: on });
    return { on, colour: this._colour };
  }

  sample(): void {
    const { temperature, humidity, pressure } = this._room.next();
    this._agent.telemetry.record(
      this._second ? { temperature, humidity, pressure } : { temperature, humidity },
    );
    this._points++;
  }

  health(): void {
    const upSeconds = Math.floor((this._host.clock.now() - this._began) / 1000);
    this._agent.telemetry.record({ upSeconds, points: this._points, version: this._version });
  }

  private _due(): void {
    try {
      this.sample();
      if (this._points % HEALTH_EVERY === 0) this.health();
    } catch (error) {
      this._host.log(
        "warn",
        `a point was not recorded: ${error instanceof Error ? error.message : "unknown"}`,
      );
    }
  }

  /** What is no interval changes nothing; without one it is the device's own. */
  private _every(value: unknown, ownMs: number): void {
    const before = this._sampler.intervalMs;
    const intervalMs = value === undefined ? ownMs : (intervalOf(value) ?? before);
    if (intervalMs === before) return;
    if (!this._host.settings.sleeps) this._sampler.every(intervalMs);
    this._agent.attributes.publish({ intervalMs });
  }
}
