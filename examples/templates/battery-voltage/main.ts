import { Battery } from "battery";
import { start } from "mote/board";
import { commission } from "mote/commission";
import { Strategies } from "mote/strategies";

/** Report a change of 0.02 V, and once an hour anyway. */
const BATTERY_VOLTS = { onChange: 0.02, heartbeatMs: 3_600_000 };

/** Called at each wake. The function that it returns takes the reading. */
export default function main(): void {
  start({
    application(agent, host) {
      const battery = new Battery();
      const strategies = new Strategies(agent, host, {
        keys: { batteryVolts: BATTERY_VOLTS },
        attribute: "reportStrategies",
        keep: true,
      });
      return () => {
        const batteryVolts = battery.read();
        host.log("info", `${batteryVolts} V`);
        strategies.record({ batteryVolts });
      };
    },
    extras: [commission],
  });
}
