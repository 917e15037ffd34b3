import { Climate } from "climate";
import { Switch } from "hardware";
import type { Agent, Sample } from "mote";
import { type AppHost, start } from "mote/board";
import { commission } from "mote/commission";
import { Alarms, ReportOnChange } from "mote/report-on-change";

/** Half a degree from the last report, and each hour anyway. */
const TEMPERATURE = { onChange: 0.5, heartbeatMs: 3_600_000 };
const HUMIDITY = { onChange: 3, heartbeatMs: 3_600_000 };
/** An alarm ends a degree below its limit, and the next one comes an hour later at the earliest. */
const ALARM = { hysteresis: 1, gapMs: 3_600_000 };

/** Called at each wake. The function that it returns takes the reading. */
export default function main(): void {
  start({
    application(agent, host) {
      const application = new Application(agent, host);
      return () => application.sample();
    },
    extras: [commission],
  });
}

class Application {
  private readonly _host: AppHost;
  private readonly _climate = new Climate();
  private readonly _reports: ReportOnChange;
  private _alarms: Alarms | undefined;
  private _switch: Switch | undefined;

  constructor(agent: Agent, host: AppHost) {
    this._host = host;
    // The last report survives the sleep.
    this._reports = new ReportOnChange(agent, host, {
      keys: { temperature: TEMPERATURE, humidity: HUMIDITY },
      keep: true,
    });
    // Known from an earlier wake, without a connection.
    agent.attributes.subscribe("alarmAbove", (degrees) => {
      const isLimit = typeof degrees === "number";
      this._alarms = isLimit ? new Alarms(host, { temperature: { ...ALARM, above: degrees } }) : undefined;
    });
    // A sleeping device answers at its next connection. The caller must wait until then.
    agent.rpc.handle<{ on?: unknown } | null>("setSwitch", (params) => this._set(params));
  }

  /** Returns a point to record as it is, or nothing if the rules decide. */
  sample(): Sample {
    const reading = this._climate.read();
    if (typeof reading === "string") {
      this._host.log("warn", reading);
      return undefined;
    }
    this._host.log("info", `${reading.temperature} °C, ${reading.humidity} %`);
    if (this._alarms?.check({ ...reading })) return { values: { ...reading }, alarm: true };
    this._reports.record({ ...reading });
    return undefined;
  }

  /** RPC: { "on": true }. The next sleep switches the pin off: use a latching relay for a lasting state. */
  private _set(params: { on?: unknown } | null): { on: boolean } {
    const on = params?.on;
    if (typeof on !== "boolean") throw new TypeError("on: true or false");
    this._switch ??= new Switch();
    this._switch.write(on);
    return { on };
  }
}
