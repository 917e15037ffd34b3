// Checks a page by axe-core's rules.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Each violated rule with its first elements; empty if there is none. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 5).map(({ target }) => target).join(", ")))`,
  );
}
