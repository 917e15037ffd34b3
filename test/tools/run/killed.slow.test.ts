// SIGKILL at any moment: the state directory stays whole, and no process stays behind.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import test from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { IN_USE } from "../../../hosts/node/exit.js";
import { UNFENCED } from "../../../hosts/node/files.js";
import { FileStore } from "../../../hosts/node/store.js";
import { CONFIRMS, image, STAYS, updateTo } from "./images.js";
import { EventLog, temporaryState } from "./session.js";

const RUN = fileURLToPath(new URL("./stub-run.js", import.meta.url));
const WRITER = fileURLToPath(new URL("../../hosts/node/store-writer.js", import.meta.url));

function start(
  stateDir: string,
  app: string,
): { child: ChildProcess; eventLog: EventLog; complaint: () => string } {
  const child = fork(RUN, [stateDir, app], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
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

const pidOf = (eventLog: EventLog): number =>
  Number(eventLog.events.find(({ event }) => event === "started")?.pid);

async function gone(pid: number): Promise<boolean> {
  for (let n = 0; n < 200; n++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}

test.serial(
  "a value in the store is the one before the kill or the one after, and none that was acknowledged is lost",
  async (t) => {
    const seed = Number(process.env.MOTE_SEED ?? Date.now() % 100_000);
    t.log(`MOTE_SEED=${seed} replays this run`);
    const stateDir = temporaryState(t);
    let random = seed;
    for (let round = 0; round < 12; round++) {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      const child = fork(WRITER, [stateDir], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      let acknowledged = 0;
      child.on("message", (n: number) => {
        acknowledged = n;
      });
      await once(child, "message");
      await new Promise((resolve) => setTimeout(resolve, random % 40));
      child.kill("SIGKILL");
      await once(child, "exit");
      const value = new FileStore(join(stateDir, "store"), UNFENCED).get("counter");
      const words = value && new Uint32Array(value.slice().buffer);
      t.true(
        words?.every((word) => word === words[0]),
        "torn",
      );
      t.true((words?.[0] ?? 0) >= acknowledged, `acknowledged ${acknowledged}, found ${words?.[0]}`);
    }
  },
);

test.serial("when the supervisor is killed its worker ends, and the next run starts", async (t) => {
  const { stateDir, app, first } = await started(t, image("1", STAYS));
  first.child.kill("SIGKILL");
  t.true(await gone(pidOf(first.eventLog)));
  const second = start(stateDir, app);
  await second.eventLog.until(({ starts }) => starts.length === 1);
  second.child.kill("SIGTERM");
  t.deepEqual(await once(second.child, "exit"), [0, null]);
  t.true(await gone(pidOf(second.eventLog)));
});

test.serial("a worker that blocks outlives its killed supervisor only until the next run", async (t) => {
  const blocksOnce =
    "if (host.store.get('second')) return; host.store.set('second', new Uint8Array(1)); setTimeout(() => { for (;;); }, 200);";
  const { stateDir, app, first } = await started(t, image("1", blocksOnce));
  await new Promise((resolve) => setTimeout(resolve, 400));
  first.child.kill("SIGKILL");
  const second = start(stateDir, app);
  await second.eventLog.until(({ starts }) => starts.length === 1);
  t.true(await gone(pidOf(first.eventLog)));
  second.child.kill("SIGTERM");
  await once(second.child, "exit");
});

test.serial("a second run on the directory is refused by a clear line", async (t) => {
  const { stateDir, app, first } = await started(t, image("1", STAYS));
  const second = start(stateDir, app);
  t.deepEqual(await once(second.child, "exit"), [IN_USE, null]);
  t.true(second.complaint().includes(`is in use by process ${first.child.pid}`));
  first.child.kill("SIGTERM");
  t.deepEqual(await once(first.child, "exit"), [0, null]);
});

test.serial(
  "an update under SIGKILLs of everything ends in the old image or the new, and always starts",
  async (t) => {
    const seed = Number(process.env.MOTE_SEED ?? Date.now() % 100_000);
    t.log(`MOTE_SEED=${seed} replays this run`);
    let random = seed;
    const outcomes = new Set<string>();
    for (let round = 0; round < 6; round++) {
      // Big enough for the kill to find it half written.
      const next = Buffer.concat([image("2", CONFIRMS), Buffer.from(`/*${"x".repeat(200_000)}*/`)]);
      const { stateDir, app, first } = await started(t, image("1", updateTo(next)));
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      await new Promise((resolve) => setTimeout(resolve, random % 600));
      const latest = first.eventLog.events.filter(({ event }) => event === "started").at(-1);
      first.child.kill("SIGKILL");
      try {
        process.kill(Number(latest?.pid), "SIGKILL");
      } catch {
        // It was between two workers.
      }
      const second = start(stateDir, app);
      await second.eventLog.until(({ starts }) => starts.length === 1);
      second.child.kill("SIGTERM");
      t.deepEqual(await once(second.child, "exit"), [0, null]);
      const boot = readBoot(stateDir);
      outcomes.add(second.eventLog.starts[0] ?? "none");
      t.true(boot?.state === "confirmed" || boot?.started === false, JSON.stringify(boot));
    }
    t.log([...outcomes].join(", "));
  },
);
