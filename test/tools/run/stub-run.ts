// A supervisor in a process of its own, for tests that kill it: stub-run.js STATE [APP [WAIT_MS]].
import { readFileSync } from "node:fs";
import { makeDirectory } from "../../../hosts/node/files.js";
import { StateLock } from "../../../hosts/node/state-lock.js";
import { stopSignals } from "../../../tools/cli/stop.js";
import { IN_USE } from "../../../tools/exit-codes.js";
import { hiding, Lines } from "../../../tools/run/lines.js";
import { supervise } from "../../../tools/run/supervisor.js";
import { configFor, STUB } from "./images.js";

const [stateDir, app, waitMs = 60_000] = process.argv.slice(2);
const lines = new Lines(process.stdout, "json", hiding([]));
const stop = stopSignals();
const tell = (line: string): void => lines.tell({ event: "log", level: "warn", line });
try {
  makeDirectory(stateDir ?? "");
  const lock = await StateLock.ofRun(stateDir ?? "", { waitMs: Number(waitMs), tell, stop: stop.stop });
  const code = await supervise({
    config: configFor(stateDir ?? ""),
    lock,
    app: app === undefined ? undefined : readFileSync(app),
    lines,
    worker: STUB,
    delays: { first: 20, longest: 100 },
    ...stop,
  });
  lock.release();
  process.exit(code as number);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(IN_USE);
}
