// What an idle agent keeps in RAM on a board: slots in use in the simulator, everything preloaded, minus those of the same build without an Agent, at a
// board's 16 bytes. Buffers are chunks, whose size the options set: they are left out.
import { Idle, idleProgram, SLOT } from "../idle.js";
import { idleOnXs } from "../on-xs/idle-on-xs.js";
import type { Row } from "../row.js";

const KIB = 1024;
const CASES = [
  { connections: 1, target: 16 },
  { connections: 3, target: 20 },
] as const;

/** Without `connections` there is no agent. */
async function slotsAtRest(program: string, connections?: 1 | 3): Promise<number> {
  const idle = await Idle.start(program, connections);
  try {
    return await idle.atRest();
  } finally {
    await idle.end();
  }
}

export const row: Row = {
  id: 5,
  name: "live heap of an idle agent in the simulator, buffers apart",
  quick: false,
  needs: "sdk",
  exactNeeds: "xs",
  exact: async () => ({
    "slots, 1 connection": await idleOnXs(1),
    "slots, 2 connections": await idleOnXs(2),
    "slots, 3 connections": await idleOnXs(3),
  }),
  run: async () => {
    const program = await idleProgram();
    const bare = await slotsAtRest(program);
    const lines = [];
    for (const { connections, target } of CASES) {
      const slots = await slotsAtRest(program, connections);
      const what = `${connections} connection${connections > 1 ? "s" : ""}`;
      lines.push({ what, unit: "KiB of slots", mote: ((slots - bare) * SLOT) / KIB, target });
    }
    return lines;
  },
};
