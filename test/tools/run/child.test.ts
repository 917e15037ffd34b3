// The supervisor's end of the channel to a worker, whose image may write to it too.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { PATIENCE, runWorker } from "../../../tools/run/child.js";
import { scratch } from "../scratch.js";
import { configFor } from "./images.js";

test("only a message with the secret of this start says how a worker ended", async (t) => {
  const entry = join(scratch(), "worker.mjs");
  const says = (message: string) =>
    `import { readSync, writeSync } from "node:fs";
const bytes = Buffer.alloc(65536);
const { secret } = JSON.parse(bytes.toString("utf8", 0, readSync(3, bytes)));
writeSync(3, ${message} + JSON.stringify({ kind: "end", how: "stopped", reason: "asked" }) + "\\n");
process.exit(0);`;
  const config = configFor("state");
  const start = {
    config,
    path: "image.mjs",
    slot: "a",
    state: "confirmed",
    sha256: "",
    lastRun: { reset: "restart", crash: false },
  } as const;
  const run = { entry, start, emit: () => {}, secret: () => {}, patience: PATIENCE };
  const signals = { stop: new AbortController().signal, kill: new AbortController().signal };
  const ends = async (message: string) => {
    writeFileSync(entry, says(message));
    return runWorker({ ...run, ...signals, clean: (text) => text });
  };
  t.deepEqual(await ends('secret + " "'), { how: "stopped", reason: "asked" });
  for (const forged of ['""', '"0".repeat(32) + " "'])
    t.deepEqual(await ends(forged), { how: "crash", reason: "exit code 0" }, forged);
});
