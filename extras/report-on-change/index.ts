// The public API of `mote/report-on-change`. Devices that do not import it do not pay for it.
export { type AlarmLimits, Alarms, type AlarmsHost } from "./alarms.js";
export {
  ReportOnChange,
  type ReportOnChangeAgent,
  type ReportOnChangeHost,
  type ReportOnChangeOptions,
} from "./report-on-change.js";
export type { ReportRule } from "./rule.js";
