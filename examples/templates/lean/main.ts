import { Climate } from "climate";
import { Switch } from "hardware";
import type { Agent } from "mote";
import { type AppHost, start } from "mote/board";

/** Limits of the shared attribute "interval", in seconds. */
const LEAST_SECONDS = 1;
const MOST_SECONDS = 3600;

export default function main(): void {
  start({ application: (agent, host) => new Application(agent, host) });
}

class Application {
  private readonly _agent: Agent;
  private readonly _host: AppHost;
  private readonly _climate = new Climate();
  private readonly _switch = new Switch();
  private _intervalMs: number;
  private _sensor = "";
  private _cancel = (): void => {};

  constructor(agent: Agent, host: AppHost) {
    this._agent = agent;
    this._host = host;
    this._intervalMs = host.settings.intervalMs;
    agent.rpc.handle<{ on?: unknown } | null>("setSwitch", (params) => this._set(params));
    agent.attributes.subscribe("interval", (seconds) => this._every(seconds));
    agent.attributes.publish({ switch: false });
    this._sample();
  }

  private _sample(): void {
    this._cancel = this._host.clock.timer(this._intervalMs, () => this._sample());
    const reading = this._climate.read();
    this._report(typeof reading === "string" ? reading : "ok");
    if (typeof reading === "string") {
      this._agent.telemetry.record({ upSeconds: Math.round(this._host.clock.now() / 1000) });
      return;
    }
    this._agent.telemetry.record({ ...reading });
    this._host.log("info", `${reading.temperature} °C, ${reading.humidity} %`);
  }

  /** Publishes the sensor's state as a client attribute when it changes. */
  private _report(sensor: string): void {
    if (sensor === this._sensor) return;
    this._sensor = sensor;
    this._agent.attributes.publish({ sensor });
    if (sensor !== "ok") this._host.log("warn", sensor);
  }

  /** RPC: { "on": true }. The caller sees the message of an exception. */
  private _set(params: { on?: unknown } | null): { on: boolean } {
    const on = params?.on;
    if (typeof on !== "boolean") throw new TypeError("on: true or false");
    this._switch.write(on);
    this._agent.attributes.publish({ switch: on });
    return { on };
  }

  /** An operator can set any JSON. Without a valid value, the manifest's interval applies. */
  private _every(seconds: unknown): void {
    const good = typeof seconds === "number" && seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS;
    const intervalMs = good ? seconds * 1000 : this._host.settings.intervalMs;
    if (intervalMs === this._intervalMs) return;
    this._intervalMs = intervalMs;
    this._host.log("info", `a reading every ${intervalMs / 1000} s`);
    this._cancel();
    this._cancel = this._host.clock.timer(intervalMs, () => this._sample());
  }
}
