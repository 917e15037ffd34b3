// Mutants of: the lines that a device keeps.
import type { Mutant } from "./mutant.js";

const LINES = "Its last lines are read";
const FOLDER = "src/log";
const RING = "src/log/ring.test.js";
const DEVICE = "src/log/device-log.test.js";

export const log: readonly Mutant[] = [
  {
    name: "a kept line shows secrets",
    promise: LINES,
    file: `${FOLDER}/device-log.ts`,
    find: "escaped(this._secrets.clean(line).slice(0, BEGINNING))",
    replace: "escaped(line.slice(0, BEGINNING))",
    tests: [DEVICE],
  },
  {
    name: "a damaged line is shown",
    promise: LINES,
    file: `${FOLDER}/ring.ts`,
    find: "if (view.getUint16(2, true) !== (sumOf(bytes, 4) & 0xffff)) {",
    replace: "if (view.getUint16(2, true) > 0xffff) {",
    tests: [RING],
  },
  {
    name: "a power loss takes all lines with the head that it cuts",
    promise: LINES,
    file: `${FOLDER}/ring.ts`,
    find: "this._memory.write((turn % 2) * HEAD, bytes)",
    replace: "this._memory.write(turn * 0, bytes)",
    tests: [RING],
  },
  {
    name: "a follower's number counts in another ring",
    promise: LINES,
    file: `${FOLDER}/ring.ts`,
    find: "this.id = new DataView(bytes.buffer).getUint32(0, true);",
    replace: "this.id ||= new DataView(bytes.buffer).getUint32(0, true);",
    tests: [RING],
  },
  {
    name: "a level that was asked for ends with the run",
    promise: LINES,
    file: `${FOLDER}/device-log.ts`,
    find: "if (minutes === 0) return;",
    replace: "if (minutes >= 0) return;",
    tests: [DEVICE],
  },
];
