// SIGKILL of a supervisor: its worker ends, and the next run starts.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import test from "ava";
import { IN_USE } from "../../../tools/exit-codes.js";
import { end } from "../cli/commands.js";
import { processEnds } from "../until.js";
import { image, STAYS } from "./images.js";
import { EventLog, temporaryState } from "./session.js";

const RUN = fileURLToPath(new URL("./stub-run.js", import.meta.url));

function start(
  stateDir: string,
  app: string,
  waitMs = 60_000,
): { child: ChildProcess; eventLog: EventLog; complaint: () => string } {
  const child = fork(RUN, [stateDir, app, String(waitMs)], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const eventLog = new EventLog();
  let complaint = "";
  if (child.stdout) createInterface(child.stdout).on("line", (line) => eventLog.add(JSON.parse(line)));
  child.stderr?.on("data", (text) => {
    complaint += text;
  });
  return { child, eventLog, complaint: () => complaint };
}

/** A run with this image in a state directory of its own, once its worker has started. */
async function started(t: Parameters<typeof temporaryState>[0], content: Buffer) {
  const stateDir = temporaryState(t);
  const app = join(stateDir, "app.mjs");
  writeFileSync(app, content);
  const first = start(stateDir, app);
  await first.eventLog.until(({ starts }) => starts.length === 1);
  return { stateDir, app, first };
}

const pidOf = (eventLog: EventLog): number => Number(eventLog.named("started")[0]?.pid);

test.serial("when the supervisor is killed its worker ends, and the next run starts", async (t) => {
  const { stateDir, app, first } = await started(t, image("1", STAYS));
  first.child.kill("SIGKILL");
  t.true(await processEnds(pidOf(first.eventLog)));
  const second = start(stateDir, app);
  await second.eventLog.until(({ starts }) => starts.length === 1);
  t.is(await end(second.child), 0);
  t.true(await processEnds(pidOf(second.eventLog)));
});

test.serial("a worker that blocks and outlives its killed supervisor is named, not replaced", async (t) => {
  const { stateDir, app, first } = await started(t, image("1", "setTimeout(() => { for (;;); }, 200);"));
  await new Promise((resolve) => setTimeout(resolve, 400));
  first.child.kill("SIGKILL");
  t.teardown(() => process.kill(pidOf(first.eventLog), "SIGKILL"));
  const second = start(stateDir, app, 0);
  t.deepEqual(await once(second.child, "exit"), [IN_USE, null]);
  t.true(second.complaint().includes("is in use by a process that does not answer: resume or end it"));
});

test.serial("a second run on the directory is refused by a clear line", async (t) => {
  const { stateDir, app, first } = await started(t, image("1", STAYS));
  const second = start(stateDir, app, 0);
  t.deepEqual(await once(second.child, "exit"), [IN_USE, null]);
  t.true(second.complaint().includes(`is in use by process ${first.child.pid}`));
  t.is(await end(first.child), 0);
});
