// The sample application, the same on a board, in the simulator and on Node. Of the agent and the host it takes types alone, beside what is optional.
//
// Telemetry: temperature, humidity; from 2.0.0 on pressure too; upSeconds, points, version with every tenth of them. Client attributes: serial, starts, app, intervalMs, led.
// Shared attributes: interval (seconds between two readings); reportStrategies (what of them is reported: without it, all).
// RPC: setLed {on}, getStatus, echo, burst {points}, report, callPlatform {method, params}, readAttributes {clientKeys, sharedKeys},
// claim {secretKey, durationMs}; mote.health.
import { Diagnostics, type DiagnosticsOptions } from "../../src/diagnostics/index.js";
import type { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { Strategies } from "../../src/strategies/index.js";
import { type Desk, handleMethods } from "./methods.js";
import { intervalOf, LIMITS, Sampler } from "./sampler.js";
import { countStart } from "./starts.js";
import { Room } from "./weather.js";

/** What the application is told beside the host. */
export interface AppHost extends Host {
  readonly settings: {
    /** Between two samples, in milliseconds. */
    readonly intervalMs: number;
    /** Of the running firmware. Default: that of the build. */
    readonly version?: string | undefined;
    /** The machine sleeps between two samples, each of which is asked for: see `Agent.runOnce`. */
    readonly sleeps?: boolean | undefined;
  };
  /** What the machine tells of itself. */
  readonly health?: DiagnosticsOptions | undefined;
}

/** Set by the build of an image. */
declare const VERSION: string;

/** Readings to one report of the device's own health. */
const HEALTH_EVERY = 10;

export const firmware = { title: "desk", version: typeof VERSION === "undefined" ? "1.0.0" : VERSION };

/** Sets the application up; the agent is started afterwards. Returns what records a sample, for a machine that sleeps in between. */
export default function setUp(agent: Agent, host: AppHost): () => void {
  new Diagnostics(agent, host, host.health);
  const application = new Application(agent, host);
  handleMethods(agent, host, application);
  return () => application.sample();
}

class Application implements Desk {
  readonly #agent: Agent;
  readonly #host: AppHost;
  readonly #strategies: Strategies;
  readonly #room: Room;
  readonly #sampler: Sampler;
  readonly #version: string;
  readonly #second: boolean;
  readonly #colour: string;
  readonly #began: number;
  #points = 0;
  #led = false;

  constructor(agent: Agent, host: AppHost) {
    this.#agent = agent;
    this.#host = host;
    const keep = host.settings.sleeps === true;
    this.#strategies = new Strategies(agent, host, { attribute: "reportStrategies", keep });
    this.#room = new Room(host);
    this.#version = host.settings.version ?? firmware.version;
    this.#second = this.#version !== "1.0.0";
    this.#colour = this.#second ? "blue" : "green";
    this.#began = host.clock.now();
    const ownMs = Math.min(LIMITS.most, Math.max(LIMITS.least, host.settings.intervalMs));
    this.#sampler = new Sampler(host.clock, ownMs, () => this.#due());
    if (host.settings.sleeps) this.#sampler.stop();
    const serial = `D-${host.hardwareId.slice(-6)}`;
    agent.attributes.publish({ serial, app: this.#version, intervalMs: ownMs, led: false });
    const starts = host.settings.sleeps ? undefined : countStart(host);
    if (starts !== undefined) agent.attributes.publish({ starts });
    agent.attributes.subscribe("interval", (value) => this.#every(value, ownMs));
  }

  status(): Record<string, unknown> {
    return {
      version: this.#version,
      led: this.#led ? this.#colour : "off",
      intervalMs: this.#sampler.intervalMs,
      points: this.#points,
      upMs: Math.round(this.#host.clock.now() - this.#began),
    };
  }

  setLed(on: boolean): Record<string, unknown> {
    this.#led = on;
    this.#agent.attributes.publish({ led: on });
    return { on, colour: this.#colour };
  }

  sample(): void {
    const { temperature, humidity, pressure } = this.#room.next();
    this.#strategies.record(this.#second ? { temperature, humidity, pressure } : { temperature, humidity });
    this.#points++;
  }

  health(): void {
    const upSeconds = Math.floor((this.#host.clock.now() - this.#began) / 1000);
    this.#agent.telemetry.record({ upSeconds, points: this.#points, version: this.#version });
  }

  #due(): void {
    try {
      this.sample();
      if (this.#points % HEALTH_EVERY === 0) this.health();
    } catch (error) {
      this.#host.log(
        "warn",
        `a point was not recorded: ${error instanceof Error ? error.message : "unknown"}`,
      );
    }
  }

  /** What is no interval changes nothing; without one it is the device's own. */
  #every(value: unknown, ownMs: number): void {
    const before = this.#sampler.intervalMs;
    const intervalMs = value === undefined ? ownMs : (intervalOf(value) ?? before);
    if (intervalMs === before) return;
    if (!this.#host.settings.sleeps) this.#sampler.every(intervalMs);
    this.#agent.attributes.publish({ intervalMs });
  }
}
