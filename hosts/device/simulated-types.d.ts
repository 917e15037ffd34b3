// `mote/simulated` for a project's TypeScript. Only the simulator and Node have it: import it in
// modules of the platform `...`, such as hardware/simulator.ts.
import type { Button, Range } from "./simulated.js";

/** A simulated sensor. Returns the function that reads its value. */
export declare function slider(name: string, range: Range): () => number;
/** A simulated push button. `onChange` is called at each edge. */
export declare function button(name: string, onChange?: () => void): Button;
/** A simulated lamp, relay or other output. Returns the function that switches it. */
export declare function lamp(name: string): (on: boolean) => void;
