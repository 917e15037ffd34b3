// The supervisor with real worker processes and tiny images; one after the other, each starts
// several processes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { readBoot, slotPath, writeBoot } from "../../../hosts/node/boot-record.js";
import { PATIENCE } from "../../../tools/run/child.js";
import type { SuperviseOptions } from "../../../tools/run/supervisor.js";
import { BLOCKS, CONFIRMS, CRASHES, EXITS, image, RESTARTS, STAYS, updateTo } from "./images.js";
import { session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));

/** Runs until so many workers have started, and stops: what was reported, and the exit code. */
async function runs(
  t: Parameters<typeof session>[0],
  stateDir: string,
  app?: Buffer,
  { starts: wanted = 1, ...more }: Partial<SuperviseOptions> & { starts?: number } = {},
) {
  const { eventLog, stop } = session(t, stateDir, app, more);
  await eventLog.until(({ starts }) => starts.length === wanted);
  const code = await stop();
  return { code, starts: eventLog.starts, events: eventLog.events };
}

test.serial("the same file is not put in again, a changed one is", async (t) => {
  const stateDir = temporaryState(t);
  for (const [app, flashed] of [
    [image("1", STAYS), true],
    [image("1", STAYS), false],
    [image("2", STAYS), true],
  ] as const) {
    const { events } = await runs(t, stateDir, app);
    t.is(
      events.some(({ event }) => event === "firmware.flashed"),
      flashed,
    );
  }
  t.is(readBoot(stateDir)?.state, "confirmed");
});

test.serial("sets a damaged boot record aside, reports it and installs the image again", async (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "boot.json"), '{"format":1,"act');
  const { code, events } = await runs(t, stateDir, image("1", STAYS));
  t.is(code, 0);
  t.is(readFileSync(join(stateDir, "boot.json.damaged"), "utf8"), '{"format":1,"act');
  t.true(events.some(({ event, line }) => event === "log" && /boot\.json\.damaged/.test(String(line))));
});

test.serial("tells only the first worker of a power loss, and each the crash count", async (t) => {
  const { events } = await runs(t, temporaryState(t), image("1", CRASHES), { starts: 3 });
  const started = events.filter(({ event }) => event === "started");
  t.deepEqual(
    started.slice(0, 3).map(({ interrupted, crashes }) => [interrupted, crashes]),
    [
      [true, 0],
      [false, 1],
      [false, 2],
    ],
  );
});

test.serial("an update that confirms stays, also over the next run with the old file", async (t) => {
  const stateDir = temporaryState(t);
  const app = image("1", updateTo(image("2", CONFIRMS)));
  const first = session(t, stateDir, app);
  await first.eventLog.until(({ starts }) => starts.length === 2);
  await first.eventLog.until(() => readBoot(stateDir)?.state === "confirmed");
  await first.stop();
  t.deepEqual(first.eventLog.starts, ["1 confirmed", "2 pending"]);
  t.deepEqual((await runs(t, stateDir, app)).starts, ["2 confirmed"]);
});

for (const [what, body] of [
  ["crashes", CRASHES],
  ["exits with code 0", EXITS],
  ["restarts before it is confirmed", RESTARTS],
  ["is killed", "process.kill(process.pid, 'SIGKILL');"],
  ["rejects a promise", "Promise.reject(new Error('nobody looks'));"],
] as const) {
  test.serial(`an update that ${what} is given up for the image before`, async (t) => {
    const stateDir = temporaryState(t);
    const app = image("1", updateTo(image("2", body)));
    const { code, starts, events } = await runs(t, stateDir, app, { starts: 3 });
    t.is(code, 0);
    t.deepEqual(starts, ["1 confirmed", "2 pending", "1 confirmed"]);
    t.true(events.some(({ event, reason }) => event === "firmware.fallback" && reason === "failed"));
    t.is(readBoot(stateDir)?.state, "confirmed");
  });
}

test.serial("rolls back an update that is not an image", async (t) => {
  const app = image("1", updateTo(Buffer.from("no module {")));
  const { starts } = await runs(t, temporaryState(t), app, { starts: 2 });
  t.deepEqual(starts, ["1 confirmed", "1 confirmed"]);
});

test.serial("an update that blocks its process is killed and given up", async (t) => {
  // A busy machine takes a second to start one that does not block.
  const patience = { ...PATIENCE, lookMs: 400, looks: 10 };
  const old = updateTo(image("2", BLOCKS));
  const { starts, events } = await runs(t, temporaryState(t), image("1", old), { starts: 3, patience });
  t.deepEqual(starts, ["1 confirmed", "2 pending", "1 confirmed"]);
  t.true(events.some(({ event, reason }) => event === "crash" && reason === "no sign of life"));
});

test.serial("an update that the user stops gets its trial at the next start", async (t) => {
  const stateDir = temporaryState(t);
  const app = image("1", updateTo(image("2", STAYS)));
  await runs(t, stateDir, app, { starts: 2 });
  t.deepEqual((await runs(t, stateDir, app)).starts, ["2 pending"]);
});

test.serial("rolls back an image whose trial a power loss ended", async (t) => {
  const stateDir = temporaryState(t);
  const app = image("1", updateTo(image("2", STAYS)));
  const first = session(t, stateDir, app);
  await first.eventLog.until(({ starts }) => starts.length === 2);
  const atTheCut = readBoot(stateDir);
  await first.stop();
  t.true(atTheCut?.started);
  if (atTheCut) writeBoot(stateDir, atTheCut);
  t.deepEqual((await runs(t, stateDir, app)).starts, ["1 confirmed"]);
});

test.serial("a confirmed image that crashes is started again after growing waits", async (t) => {
  const { events } = await runs(t, temporaryState(t), image("1", CRASHES), { starts: 5 });
  const waits = events.filter(({ event }) => event === "crash").map(({ retryMs }) => retryMs);
  t.deepEqual(waits.slice(0, 4), [20, 40, 80, 100]);
});

test.serial("a damaged image is not started: the one before is", async (t) => {
  const stateDir = temporaryState(t);
  const app = image("1", updateTo(image("2", CONFIRMS)));
  const first = session(t, stateDir, app);
  await first.eventLog.until(
    () => readBoot(stateDir)?.state === "confirmed" && readBoot(stateDir)?.active === "b",
  );
  await first.stop();
  damage(slotPath(stateDir, "b"));
  t.deepEqual((await runs(t, stateDir, app)).starts, ["1 confirmed"]);
});

test.serial("an image does not find the secrets in its environment", async (t) => {
  process.env.MOTE_PROVISION_SECRET = "very-secret";
  t.teardown(() => delete process.env.MOTE_PROVISION_SECRET);
  const { eventLog, stop } = session(
    t,
    temporaryState(t),
    image("1", `console.log(process.env.MOTE_PROVISION_SECRET ?? "none"); ${STAYS}`),
  );
  t.is((await eventLog.first("log")).line, "none");
  await stop();
});

for (const [file, reason] of [
  ["blocks.bin", /blocks\.bin is not a file: remove it/],
  ["slots/b.bin", /b\.bin is not a file: remove it/],
  ["store/token.bin", /token\.bin is not a file: remove it/],
] as const)
  test.serial(
    `a directory in place of ${file} ends the run with exit code 74 and a plain line`,
    async (t) => {
      const stateDir = temporaryState(t);
      mkdirSync(join(stateDir, file), { recursive: true });
      const { eventLog, ended } = session(t, stateDir, image("1", STAYS), { worker: WORKER });
      t.is(await ended, 74);
      const lines = eventLog.named("log").map(({ line }) => line as string);
      t.is(lines.length, 1, lines.join("\n"));
      t.regex(lines[0]!, reason);
      t.notRegex(lines[0]!, /Error|EISDIR|\bat /);
    },
  );

test.serial("an error that can't be described ends the run like any other", async (t) => {
  const odd = `Object.defineProperty(new Error(), "message", { get() { throw this; } })`;
  const body = `${STAYS} setTimeout(() => Promise.reject(${odd}), 100);`;
  const { events } = await runs(t, temporaryState(t), image("1", body), { worker: WORKER, starts: 2 });
  t.is(events.find(({ event }) => event === "crash")?.reason, "an Error that cannot be read");
});

test.serial("an image that runs is one, whatever it throws: the run goes on", async (t) => {
  const body = `setTimeout(() => { throw Object.assign(new Error("late"), { name: "MoteError", code: "BAD_OPTIONS" }); }, 200);`;
  const { code, events } = await runs(t, temporaryState(t), image("1", body), { starts: 2, worker: WORKER });
  t.is(code, 0);
  t.false(events.some(({ line }) => /not a firmware image/.test(String(line))));
});

function damage(path: string): void {
  const bytes = readFileSync(path).subarray(0, 4096);
  bytes[40] = bytes[40]! ^ 1;
  writeFileSync(path, bytes, { flag: "r+" });
}
