// `mote run --cycle`: a device that sleeps between its samples, as processes.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { killAll, launch, mote, processOutput } from "../cli/commands.js";

test.after.always(killAll);

test("mote run --cycle connects in every n-th wake, reports each, and delivers all of it", async (t) => {
  const state = mkdtempSync(join(tmpdir(), "mote-cycle-"));
  const platform = await startPlatform({ port: 0, profile: { key: "KEY", secret: "SECRET" } });
  t.teardown(async () => {
    await platform.close();
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  });
  const child = launch(
    ["run", "--url", platform.url, "--state", state, "--interval", "1s", "--cycle", "2", "--log", "json"],
    { MOTE_PROVISION_KEY: "KEY", MOTE_PROVISION_SECRET: "SECRET" },
  );
  const eventLog = processOutput(child);
  const wakes = () => eventLog.events.filter(({ event }) => event === "wake");
  await eventLog.until(() => wakes().filter(({ reason }) => reason === "schedule").length >= 2);
  t.is(wakes()[0]?.reason, "start");
  t.true(wakes().some(({ reason }) => reason === "none"));
  t.true(wakes().every((wake) => !JSON.stringify(wake).includes("format")));
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
});

test("a cycle that makes no sense is refused by the options' names", async (t) => {
  const args = ["run", "--url", "http://127.0.0.1:1", "--token", "T", "--state", join(tmpdir(), "mote-none")];
  const { code, err } = await mote([...args, "--interval", "500ms", "--cycle", "0"]);
  t.is(code, 2);
  t.regex(err, /--interval/);
  t.regex(err, /--cycle is a whole number/);
});
