// A supervisor in a process of its own, for tests that kill it: stub-run.js STATE [APP].
import { readFileSync } from "node:fs";
import { Lines } from "../../../hosts/node/run/lines.js";
import { supervise } from "../../../hosts/node/run/supervisor.js";
import { stopSignals } from "../../../tools/cli/stop.js";
import { configFor, STUB } from "./images.js";

const [stateDir, app] = process.argv.slice(2);
const lines = new Lines(process.stdout, "json", []);
try {
  const code = await supervise({
    config: configFor(stateDir ?? ""),
    app: app === undefined ? undefined : readFileSync(app),
    lines,
    worker: STUB,
    delays: { first: 20, longest: 100 },
    ...stopSignals(),
  });
  process.exit(code);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
