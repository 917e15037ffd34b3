// What an idle agent keeps in RAM on a board: slots in use in the simulator, everything preloaded, minus those of the same build without an Agent, at a
// board's 16 bytes. Buffers are chunks, whose size the options set: given beside. So is TLS, of which the session is the SDK's.
import { bareLook, Idle, idleProgram, type Look, SLOT } from "../idle.js";
import { idleOnXs } from "../on-xs/idle-on-xs.js";
import type { Line, Row } from "../row.js";

const KIB = 1024;
const CASES = [
  { connections: 1, secure: false, target: 16 },
  { connections: 2, secure: false, target: null },
  { connections: 3, secure: false, target: 20 },
  { connections: 2, secure: true, target: null },
] as const;

async function lookAt(program: string, connections: 1 | 2 | 3, secure: boolean): Promise<Look> {
  const idle = await Idle.start(program, connections, secure);
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
    const bare = await bareLook(program);
    const lines: Line[] = [];
    for (const { connections, secure, target } of CASES) {
      const { slots, chunks } = await lookAt(program, connections, secure);
      const what = `${connections} connection${connections > 1 ? "s" : ""}${secure ? " over TLS" : ""}`;
      lines.push({ what, unit: "KiB of slots", mote: ((slots - bare.slots) * SLOT) / KIB, target });
      lines.push({
        what: `${what}, buffers and texts`,
        unit: "KiB of chunks",
        mote: (chunks - bare.chunks) / KIB,
        target: null,
      });
    }
    return lines;
  },
};
