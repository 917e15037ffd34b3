// The agent in a board's ROM: bytecode of the SDK's own compiler as its linker lays it down, module by module. What a module does once, when it is
// preloaded, is not in ROM and not counted; what any module costs is. Slots (functions, variables, tables) and texts are ROM as well, and told beside.
import { findSdk } from "../../hosts/sdk/sdk.js";
import { weighModule, weighOurs } from "../../hosts/sdk/weigh.js";
import type { Line, Row } from "./row.js";

const KIB = 1024;
/** KiB of code: with everything, and the lean build, without updates of the firmware and their digests. */
const TARGETS: Readonly<Record<string, number>> = { mote: 60, "mote-lean": 40 };

export const row: Row = {
  id: 7,
  name: "code in a board's ROM",
  better: "less",
  quick: true,
  needs: "sdk",
  exact: async () => {
    const figures: Record<string, number> = {};
    for (const [name, { code, slots, rom }] of weighOurs(findSdk())) {
      figures[`${name}: code`] = code;
      figures[`${name}: slots`] = slots;
      figures[`${name}: ROM`] = rom;
    }
    return figures;
  },
  run: async () => {
    const sdk = findSdk();
    const cost = weighModule(sdk).rom;
    const lines: Line[] = [];
    for (const [name, { code, slots, rom }] of weighOurs(sdk)) {
      const unit = "KiB";
      const of = { "mote-lean": "the lean build" }[name] ?? name;
      lines.push({ what: `${of}: code`, unit, mote: (code + cost) / KIB, target: TARGETS[name] ?? null });
      lines.push({
        what: `${of}: with its ${slots} slots, names and texts`,
        unit,
        mote: rom / KIB,
        target: null,
      });
    }
    return lines;
  },
};
