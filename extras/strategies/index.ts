// The public API of report strategies, `mote/strategies`. Devices that report every value do not
// pay for it.
export {
  Strategies,
  type StrategiesAgent,
  type StrategiesHost,
  type StrategiesOptions,
} from "./strategies.js";
export type { Strategy } from "./strategy.js";
