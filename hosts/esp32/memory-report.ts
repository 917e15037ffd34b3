import type { Agent } from "mote";
import { type Idf, MEMORY } from "./board-hardware.js";
import type { BoardHost } from "./host.js";
import { applicationLeft, applicationShare } from "./memory-plan.js";

const EVERY_MS = 3_600_000;

/**
 * Publishes client attributes: `mac`, `resetReason` (of this start) and `crash` (of the last run,
 * empty if it did not crash). Every hour also `freeMemory` and `leastFreeMemory` (bytes of the
 * system's heap), except with `sleeps`, where each change would cost a wake another request.
 */
export const publishHealth = (agent: Agent, host: BoardHost, sleeps = false): void => {
  const { reset, crash, sleptMs } = host.lastRun;
  const publishHourly = (): void => {
    publish(agent, host, memory(host));
    host.clock.timer(EVERY_MS, publishHourly);
  };
  // In one call: each one is stored on flash until the platform has it.
  publish(agent, host, {
    // A wake is not a reset.
    ...(sleptMs === undefined && { mac: host.mac, resetReason: reset, crash: crash || "" }),
    ...(!sleeps && memory(host)),
  });
  if (!sleeps) host.clock.timer(EVERY_MS, publishHourly);
};

const publish = (agent: Agent, host: BoardHost, values: Record<string, unknown>): void => {
  // A wake has none.
  if (Object.keys(values).length > 0 && !agent.attributes.publish(values))
    host.log("warn", "the client attributes leave no room for those of the board: publish fewer");
};

const memory = (host: BoardHost) => ({
  freeMemory: host.freeMemory(),
  leastFreeMemory: host.leastFreeMemory(),
});

/**
 * For `mote.health`: both pools in bytes, the application's share of the engine's memory and what
 * is left of it, and the unused part of the engine's memory and stack.
 */
export const memoryOf = (idf: Idf, host: BoardHost): Readonly<Record<string, number>> => {
  const engine = idf.mote_memory(MEMORY.engine);
  return {
    application: applicationShare(engine),
    applicationLeft: applicationLeft(engine, idf.mote_memory(MEMORY.engineFree)),
    engine,
    engineLeft: idf.mote_memory(MEMORY.engineLeft),
    taskStackLeft: idf.mote_memory(MEMORY.taskStackLeft),
    systemFree: host.freeMemory(),
    systemLeast: host.leastFreeMemory(),
    systemPiece: idf.mote_memory(MEMORY.largestFree),
  };
};
