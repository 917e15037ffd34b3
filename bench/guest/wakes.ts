// Wakes of a sleeping device on XS that do not connect: a new agent each time, on what the one
// before stored.
import { Agent } from "../../src/index.js";
import { makeMachine, world } from "./machine.js";

declare const print: (text: string) => void;

const EVERY_MS = 60_000;
const MACHINE = makeMachine(16, (level, line) => {
  if (level === "error") print(line);
});
const OPTIONS = {
  ...{ baseUrl: "http://platform.test", token: "T1", firmware: { title: "lamp", version: "1.0.0" } },
  cycle: { everyMs: EVERY_MS, connectEvery: 10_000 },
};
let kept: string | undefined;

async function wake(n: number): Promise<void> {
  world.now += EVERY_MS;
  const agent = new Agent({ ...MACHINE }, OPTIONS);
  agent.rpc.handle("blink", () => true);
  agent.attributes.subscribe("interval", () => {});
  const sample = () => ({ temperature: (200 + (n % 97)) / 10, humidity: 40 + (n % 31) });
  // The first wakes would connect.
  ({ kept } = await agent.runOnce({ sample, network: () => false, kept, sleptMs: EVERY_MS }));
}

async function wakes(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await wake(n);
}

/** `{points}`: one for each wake. */
function handleCommand(buffer: ArrayBuffer): undefined {
  const { points } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer)));
  wakes(points).catch((error) => print(String(error)));
  return undefined;
}
Object.assign(globalThis, { handleCommand });
