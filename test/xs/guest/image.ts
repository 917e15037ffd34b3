// A firmware image as a board has it: the agent and its application (the sample) as one script.
import setUp, { firmware } from "../../../examples/sample/app.js";
import { Agent, type AgentOptions, type Host } from "../../../src/index.js";

declare const host: Host;
/** Set by the build. */
declare const LEAN: boolean;

let agent: Agent | undefined;

function start(options: AgentOptions, intervalMs: number): void {
  agent = new Agent(host, LEAN ? options : { ...options, firmware: { ...firmware, allowHttp: false } });
  setUp(agent, { ...host, settings: { intervalMs } });
  agent.start();
}

async function stop(): Promise<void> {
  await agent?.flush({ timeoutMs: 1000 });
  await agent?.stop();
}

Object.assign(globalThis, { image: { start, stop } });
