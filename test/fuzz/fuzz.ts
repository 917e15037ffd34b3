// node scripts/campaign.mjs fuzz [--seed N] [--documents N] [--parser NAME] [--number N]: damaged documents for every parser, or one document of one.
import { parseArgs } from "node:util";
import { checkAll, PARSERS, report } from "./documents.js";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    documents: { type: "string", default: "20000" },
    parser: { type: "string" },
    number: { type: "string" },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const chosen = PARSERS.filter(({ name }) => values.parser === undefined || name === values.parser);
const from = values.number === undefined ? 0 : Number(values.number);
const to = values.number === undefined ? Number(values.documents) : from + 1;
if (chosen.length === 0 || ![seed, from, to].every(Number.isSafeInteger)) {
  console.error(
    `--seed, --documents and --number are whole numbers; parsers: ${PARSERS.map(({ name }) => name).join(" ")}`,
  );
  process.exit(2);
}

console.log(`seed ${seed}, ${to - from} documents for each of ${chosen.length} parsers`);
for (const parser of chosen) {
  const began = process.cpuUsage().user;
  const failure = await checkAll(parser, seed, from, to);
  if (failure) {
    console.error(report(failure));
    process.exit(1);
  }
  console.log(
    `${parser.name}: ${to - from} documents, ${((process.cpuUsage().user - began) / 1e6).toFixed(1)} s`,
  );
}
