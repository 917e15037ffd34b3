// Points on XS: recorded, sent and acknowledged by an agent, or only built and written as JSON.
import { Agent } from "../../src/index.js";
import { makeMachine, world } from "./machine.js";

declare const print: (text: string) => void;

const BATCH = 50;
/** Fifty a second: a batch as often as one is due. */
const APART_MS = 20;
const SECTORS = 16;
const TS = Date.UTC(2026, 0, 1);

const agents = new Map<string, Agent>();
let acknowledged: (() => void) | undefined;

/** What a weather station measures. */
const valuesOf = (n: number) => ({
  temperature: (200 + (n % 97)) / 10,
  humidity: 40 + (n % 31),
  pressure: (100_000 + ((n * 7) % 3000)) / 100,
});

function agentOf(kind: string): Agent {
  const known = agents.get(kind);
  if (known) return known;
  const machine = makeMachine(kind === "durable" ? SECTORS : 0, (level, line) => {
    if (level === "error") print(line);
  });
  const agent = new Agent(machine, { baseUrl: "http://platform.test", token: "T1" });
  agent.on("delivered", () => acknowledged?.());
  agent.start();
  agents.set(kind, agent);
  return agent;
}

/** Each batch acknowledged before the next. */
async function send(kind: string, points: number): Promise<void> {
  const { telemetry } = agentOf(kind);
  for (let n = 0; n < points; ) {
    const done = new Promise<void>((resolve) => {
      acknowledged = resolve;
    });
    for (const end = n + BATCH; n < end; n++) {
      world.now += APART_MS;
      telemetry.record(valuesOf(n));
    }
    await done;
  }
}

function bare(points: number): void {
  for (let n = 0; n < points; n++) JSON.stringify({ ts: TS + n * APART_MS, values: valuesOf(n) });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** `{what, points}`: `bare`, `last`, or the kind of an agent. */
function handleCommand(buffer: ArrayBuffer): ArrayBuffer | undefined {
  const { what, points } = JSON.parse(decoder.decode(new Uint8Array(buffer)));
  if (what === "bare") bare(points);
  else if (what === "last") return encoder.encode(decoder.decode(world.last)).buffer;
  else send(what, points).catch((error) => print(String(error)));
  return undefined;
}
Object.assign(globalThis, { handleCommand });
