// node scripts/campaign.mjs long [--days N] [--connections 1|2|3]: a device's life on XS; exits 1 if it holds more at the end than after a day, or lost something.
import { parseArgs } from "node:util";
import { longRun } from "./long-run.js";

const { values } = parseArgs({
  options: { days: { type: "string", default: "30" }, connections: { type: "string" } },
});
const days = Number(values.days);
const modes = values.connections === undefined ? [1, 2, 3] : [Number(values.connections)];
if (!Number.isInteger(days) || days < 1 || !modes.every((mode) => [1, 2, 3].includes(mode))) {
  console.error("--days is a whole number, 1 at least; --connections is 1, 2 or 3");
  process.exit(2);
}

for (const mode of modes) {
  const ends: (() => Promise<void>)[] = [];
  const began = process.cpuUsage().user;
  console.log(`${mode} connection(s), ${days} days`);
  const run = await longRun({ teardown: (end) => void ends.push(end) }, mode as 1 | 2 | 3, days, console.log);
  for (const end of ends) await end();
  const { slots, points, missing, rpcs, answered, converged } = run;
  const grown = slots.at(-1)! - slots[0]!;
  const seconds = Math.round((process.cpuUsage().user - began) / 1e6);
  console.log(
    `${points} points, ${missing} missing; ${answered} of ${rpcs} RPCs answered; ${grown} slots more than after a day; ${seconds} s`,
  );
  if (grown !== 0 || missing > 0 || !converged) process.exit(1);
}
