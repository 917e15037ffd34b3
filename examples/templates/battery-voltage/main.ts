import { Battery } from "battery";
import { start } from "mote/board";
import { commission } from "mote/commission";
import { ReportOnChange } from "mote/report-on-change";

/** Report a change of 0.02 V, and once an hour anyway. */
const BATTERY_VOLTS = { onChange: 0.02, heartbeatMs: 3_600_000 };

/** Called at each wake. The function that it returns takes the reading. */
export default function main(): void {
  start({
    application(agent, host) {
      const battery = new Battery();
      const reports = new ReportOnChange(agent, host, {
        keys: { batteryVolts: BATTERY_VOLTS },
        keep: true,
      });
      return () => {
        const batteryVolts = battery.read();
        host.log("info", `${batteryVolts} V`);
        reports.record({ batteryVolts });
      };
    },
    extras: [commission],
  });
}
