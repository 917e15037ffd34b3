// Damaged documents for every parser of what comes from outside, the network, flash and the
// application, as AVA tests.
import test from "ava";
import { SEED } from "../sample.js";
import { checkAll, PARSERS, report } from "./documents.js";

/** A test for each parser, of so many documents. */
export function declare(documents: number): void {
  for (const parser of PARSERS) {
    test.serial(
      `${parser.name}: no damaged document of ${documents} breaks a promise (seed ${SEED})`,
      async (t) => {
        const names = Object.getOwnPropertyNames(Object.prototype).join();
        const failure = await checkAll(parser, SEED, 0, documents);
        t.is(failure && report(failure), undefined);
        t.is(Object.getOwnPropertyNames(Object.prototype).join(), names);
      },
    );
  }
}
