// The public names of report strategies: `mote/strategies`. A device that reports every value does not pay for them.
export {
  Strategies,
  type StrategiesAgent,
  type StrategiesHost,
  type StrategiesOptions,
} from "./strategies.js";
export type { Strategy } from "./strategy.js";
