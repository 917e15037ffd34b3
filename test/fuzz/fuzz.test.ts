// Damaged documents for every parser of what comes from outside: the network, flash, the application. More: npm run fuzz
import test from "ava";
import { checkAll, PARSERS, report } from "./documents.js";

const DOCUMENTS = 20_000;
const seed = Number(process.env.MOTE_SEED ?? Math.floor(Math.random() * 2 ** 31));

for (const parser of PARSERS) {
  test.serial(
    `${parser.name}: of ${DOCUMENTS} damaged documents none makes it throw or break a promise (seed ${seed})`,
    async (t) => {
      const names = Object.getOwnPropertyNames(Object.prototype).join();
      const failure = await checkAll(parser, seed, 0, DOCUMENTS);
      t.is(failure && report(failure), undefined);
      t.is(Object.getOwnPropertyNames(Object.prototype).join(), names);
    },
  );
}
