// 100,000 agents come back after an outage: every device waits as its own back-off says, on a virtual clock, all having lost the platform at one
// instant. The cap window is 330 s, the longest wait there is. Whole agents come back as their back-off alone does: test/tools/fleet/fleet.test.ts.
import {
  busiest,
  bySecond,
  comeBack,
  LONGEST_WAIT_S,
  type Outage,
  peakOverMean,
} from "../../test/tools/fleet/comeback.js";
import type { Line, Row } from "../row.js";

const DEVICES = 100_000;
const HOUR: Outage = { ms: 3_600_000 };
const MINUTE: Outage = { ms: 60_000 };
/** Of what is drawn, and of the budget. */
const SEED = 1;

const seconds = (outage: Outage, seed: number): number[] => bySecond(comeBack(DEVICES, outage, seed));
const percent = (devices: number): number => (devices / DEVICES) * 100;
const curve = (counts: readonly number[]) => counts.map((count, second) => [second, percent(count)] as const);

export const row: Row = {
  id: 14,
  name: "100,000 agents come back after an outage",
  quick: true,
  curve: {
    x: "seconds since the platform is back",
    y: "% of the fleet a second",
    bounds: [
      { name: "2.5 %", y: 2.5 },
      { name: "1.4 times the mean of 330 s", y: 140 / LONGEST_WAIT_S },
    ],
  },
  exact: async () => ({
    "devices in the busiest second after 1 h": busiest(seconds(HOUR, SEED)),
    "devices in the busiest second after 60 s": busiest(seconds(MINUTE, SEED)),
  }),
  run: async ({ times }) => {
    const each = (outage: Outage) => Array.from({ length: times }, (_, i) => seconds(outage, SEED + i));
    const hour = each(HOUR);
    const minute = each(MINUTE);
    const most = (runs: readonly number[][]) => runs.map((run) => percent(busiest(run)));
    const lines: Line[] = [
      {
        what: "after 1 h",
        unit: "busiest second, times the mean of the cap window",
        mote: hour.map(peakOverMean),
        target: 1.4,
        series: curve(hour[0]!),
      },
      {
        what: "after 60 s",
        unit: "busiest second, % of the fleet",
        mote: most(minute),
        target: 2.5,
        series: curve(minute[0]!),
      },
    ];
    return lines;
  },
};
