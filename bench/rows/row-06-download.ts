// The peak of slots in use in the simulator while 1 MiB of firmware comes, above those of the same agent at rest. The instruments show once a second;
// test/xs/xs.slow.test.ts looks at each 16 KiB, on the engine of the tests.
import { Idle, idleProgram, SLOT } from "../idle.js";
import type { Line, Row } from "../row.js";

const KIB = 1024;
const IMAGE_BYTES = 1024 * KIB;

export const row: Row = {
  id: 6,
  name: "peak of the heap during a download of 1 MiB, above the idle agent",
  target: 8,
  quick: false,
  needs: "sdk",
  run: async () => {
    const program = await idleProgram();
    const lines: Line[] = [];
    for (const connections of [1, 2, 3] as const) {
      const idle = await Idle.start(program, connections);
      try {
        const rest = await idle.atRest();
        const peak = await idle.download(IMAGE_BYTES);
        const what = `${connections} connection${connections > 1 ? "s" : ""}`;
        lines.push({ what, unit: "KiB of slots", mote: ((peak - rest) * SLOT) / KIB });
      } finally {
        await idle.end();
      }
    }
    return lines;
  },
};
