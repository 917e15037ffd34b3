import test, { type ExecutionContext } from "ava";
import { unavailable } from "./worker.js";

/**
 * A test that needs the XS engine. Without one it is skipped, and its title says why; with
 * MOTE_REQUIRE_XS=1 in the environment it fails instead. One after the other: an engine takes some
 * 50 MB.
 */
export function testOnXs(title: string, run: (t: ExecutionContext) => Promise<void>): void {
  const missing = unavailable();
  if (missing === undefined) test.serial(title, run);
  else if (process.env.MOTE_REQUIRE_XS === "1") test(title, (t) => t.fail(missing));
  else test.skip(`${title} (${missing})`, run);
}
