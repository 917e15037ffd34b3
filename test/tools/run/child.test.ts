// The supervisor's end of the channel to a worker, whose image may write to it too.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { PATIENCE, type Patience, runWorker, type WorkerEnd } from "../../../tools/run/child.js";
import { scratch } from "../scratch.js";
import { configFor } from "./images.js";

/** Runs a worker that knows the `secret` of its start, until it ends. */
function runs(body: string, state: "confirmed" | "pending", patience: Partial<Patience>): Promise<WorkerEnd> {
  const entry = join(scratch(), "worker.mjs");
  writeFileSync(
    entry,
    `import { readSync, writeSync } from "node:fs";
const bytes = Buffer.alloc(65536);
const { secret } = JSON.parse(bytes.toString("utf8", 0, readSync(3, bytes)));
const say = (prefix, message) => writeSync(3, prefix + JSON.stringify(message) + "\\n");
${body}`,
  );
  const lastRun = { reset: "restart", crash: false } as const;
  const start = {
    config: configFor("state"),
    path: "image.mjs",
    slot: "a",
    state,
    sha256: "",
    isFlashed: false,
    lastRun,
  } as const;
  return runWorker({
    ...{ entry, start, emit: () => {}, secret: () => {}, clean: (text: string) => text },
    ...{ stop: new AbortController().signal, kill: new AbortController().signal },
    patience: { ...PATIENCE, ...patience },
  });
}

test("only a message with the secret of this start says how a worker ended", async (t) => {
  const ends = (prefix: string) =>
    runs(
      `say(${prefix}, { kind: "end", how: "stopped", reason: "asked" }); process.exit(0);`,
      "confirmed",
      {},
    );
  t.deepEqual(await ends('secret + " "'), { how: "stopped", reason: "asked" });
  for (const forged of ['""', '"0".repeat(32) + " "'])
    t.deepEqual(await ends(forged), { how: "crash", reason: "exit code 0" }, forged);
});

const BEATS = `setInterval(() => say(secret + " ", { kind: "heartbeat", lives: true }), 50);`;

test("signs of life do not end the deadline of a start", async (t) => {
  const end = await runs(BEATS, "confirmed", { startMs: 1000 });
  t.deepEqual(end, { how: "crash", reason: "it did not start in 1 s" });
});

test("signs of life and a start do not end the deadline of a trial", async (t) => {
  const ready = `say(secret + " ", { kind: "ready" }); setTimeout(() => process.exit(7), 20_000);`;
  const end = await runs(`${BEATS} ${ready}`, "pending", { trialMs: 5000 });
  t.deepEqual(end, { how: "crash", reason: "its trial did not end in 5 s" });
});

test("only a heartbeat is a sign of life: an image that blocks may still cause other messages", async (t) => {
  const blocks = `const until = Date.now() + 30_000;
while (Date.now() < until) { say(secret + " ", { kind: "secret", secret: "", isOwn: false }); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); }`;
  const end = await runs(blocks, "confirmed", { lookMs: 200, looks: 25 });
  t.deepEqual(end, { how: "crash", reason: "no sign of life" });
});
