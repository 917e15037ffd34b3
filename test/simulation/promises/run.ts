// A simulated run, as far as it is judged: what each promise is held against.
import type { Agent, AgentOptions } from "../../../src/index.js";
import type { PowerCycle, SimulatedDevice } from "../device.js";
import type { Dice } from "../dice.js";
import type { World } from "../world.js";

export interface Run {
  readonly world: World;
  readonly body: SimulatedDevice;
  readonly dice: Dice;
  readonly connections: 1 | 2 | 3;
  readonly options: Partial<AgentOptions>;
  /** Lines of all powerCycles, with the time. */
  readonly lines: readonly { readonly at: number; readonly line: string }[];
  /** Events, and errors that calls of the application ended with. */
  readonly texts: string[];
  /** What the client attribute is to be on the platform, unless that refused it since it was published. */
  readonly count: number | undefined;
  readonly agent: Agent | undefined;
  readonly powerCycle: PowerCycle | undefined;
  note(what: string): void;
  fail(what: string): void;
}
