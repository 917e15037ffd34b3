// The points that an application records, for the status screen.
import type { Agent } from "mote";

type Values = Record<string, unknown>;
type Observer = (values: Values) => void;

/**
 * Watches `agent.telemetry.record`. The screen is loaded while the application starts already, so
 * the observer that is given later gets the points from before too.
 */
export const observePoints = (agent: Agent): ((observer: Observer) => void) => {
  const { telemetry } = agent;
  const record = telemetry.record.bind(telemetry);
  const early: Values[] = [];
  let tell: Observer = (values) => void early.push(values);
  // Not an assignment: methods are in ROM, where their names cannot be overwritten.
  Object.defineProperty(telemetry, "record", {
    value(values: Values, options?: Parameters<typeof record>[1]): boolean {
      const taken = record(values, options);
      tell(values);
      return taken;
    },
  });
  return (observer) => {
    tell = observer;
    for (const values of early) observer(values);
  };
};
