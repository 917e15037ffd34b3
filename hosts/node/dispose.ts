// Users without this library compile the declaration, too.
/// <reference lib="esnext.disposable" preserve="true" />
import { Agent } from "../../src/index.js";

declare module "../../src/agent/agent.js" {
  interface Agent {
    /** Calls `close()` for `await using agent = new Agent(…)`. Needs `mote-agent/node`. */
    [Symbol.asyncDispose](): Promise<void>;
  }
}

Object.defineProperty(Agent.prototype, Symbol.asyncDispose, {
  value: async function (this: Agent): Promise<void> {
    await this.close();
  },
});
