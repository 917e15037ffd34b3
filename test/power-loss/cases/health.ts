// What of a device's health outlives a restart, with the power going at each write: the codes of before or of after, never others, and each once.
import { HealthRecord } from "../../../extras/diagnostics/record.js";
import { Body } from "../device.js";
import type { Case } from "../runner.js";

const CODES = 24;
const KEPT = 16;

interface Noting {
  readonly body: Body;
  /** Codes that are stored for sure, and how many may be. */
  sure: number;
  maybe: number;
}

const codeOf = (n: number) => `busy ${500 + n}`;

export const healthCases: readonly Case[] = [
  {
    name: "health/codes",
    begin: (): Noting => ({ body: new Body(2, 512), sure: 0, maybe: 0 }),
    resume: (state, power) => {
      const world = state as Noting;
      const record = new HealthRecord(world.body.start(power));
      const found = record.errors.map(({ code }) => code).join();
      const lists = [world.sure, world.maybe].map((count) =>
        Array.from({ length: count }, (_, n) => codeOf(n))
          .slice(-KEPT)
          .join(),
      );
      const at = lists.indexOf(found);
      if (at < 0) throw new Error(`${found} is neither ${lists.join(" nor ")}`);
      world.sure = at === 0 ? world.sure : world.maybe;
      for (; world.sure < CODES; world.sure = world.maybe) {
        record.note(codeOf(world.sure), world.sure);
        world.maybe = world.sure + 1;
        if (!record.save()) throw new Error("not stored");
      }
    },
  },
];
