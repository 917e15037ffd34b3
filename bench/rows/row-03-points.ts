// A point on XS, recorded to acknowledged: its checks, its time, its place in the queue, its share of a batch and of an HTTP exchange. What nothing
// can beat is to build the object and write it by JSON.stringify, once, in the same engine.
import { onXs, type Subject } from "../on-xs/points-on-xs.js";
import { inTurn, type Row } from "../row.js";

const KINDS = ["ram", "durable"] as const;
const TARGETS = { ram: 5, durable: 12 };
const POINTS = 2000;
const QUICK = 500;

export const row: Row = {
  id: 3,
  name: "a point on XS, recorded to acknowledged, 50 a batch, against a bare JSON.stringify",
  target: TARGETS.ram,
  quick: true,
  needs: "xs",
  exact: () =>
    onXs(async (points) => {
      const steps: Record<string, number> = {};
      for (const subject of [...KINDS, "bare"] as const) {
        await points.warm(subject);
        steps[`${subject}Steps`] = Math.round((await points.cost(subject, POINTS)).steps * 10) / 10;
      }
      return steps;
    }),
  run: ({ times, quick }) =>
    onXs(async (points) => {
      for (const subject of [...KINDS, "bare"] as const) await points.warm(subject);
      const time = (subject: Subject) => async () =>
        (await points.cost(subject, quick ? QUICK : POINTS)).microseconds;
      const found = await inTurn(times, {
        ram: time("ram"),
        bare: time("bare"),
        durable: time("durable"),
      });
      return KINDS.map((kind) => ({
        what: kind === "ram" ? "in memory" : "durable",
        unit: "µs a point",
        mote: found[kind],
        limit: found.bare,
        target: TARGETS[kind],
      }));
    }),
};
