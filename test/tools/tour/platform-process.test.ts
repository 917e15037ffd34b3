import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { openPlatform } from "../../../tools/tour/platform-process.js";
import { scratch, writeProgram } from "../scratch.js";
import { until } from "../until.js";

const place = scratch();
const never = new AbortController().signal;

/** Stands for `mote`. */
function fake(name: string, script: string): string {
  writeProgram(place, name, script);
  return join(place, name);
}

const LISTENS = `console.log('{"event":"listening","url":"http://127.0.0.1:1"}');`;

test("a platform that is given up does not start later", async (t) => {
  const waits = join(place, "waits");
  const cli = fake(
    "late.mjs",
    `import { writeFileSync } from "node:fs";
process.once("SIGTERM", () => { ${LISTENS} process.disconnect(); clearInterval(busy); });
const busy = setInterval(() => {}, 1000);
writeFileSync(${JSON.stringify(waits)}, "");`,
  );
  const stop = new AbortController();
  const opened = openPlatform({ args: [], env: {}, stop: stop.signal, cli });
  await until(() => existsSync(waits));
  stop.abort();
  await t.throwsAsync(opened, { message: "the platform did not start: stopped" });
});

test("reports a platform that ends or stays silent, and returns one that listens", async (t) => {
  const open = (cli: string, startMs?: number) =>
    openPlatform({ args: [], env: {}, stop: never, cli, ...(startMs !== undefined && { startMs }) });
  await t.throwsAsync(open(fake("ends.mjs", `console.error("port in use"); process.exitCode = 1;`)), {
    message: "the platform did not start: port in use",
  });
  await t.throwsAsync(open(fake("silent.mjs", "process.on('disconnect', () => process.exit());"), 1), {
    message: "the platform did not start: nothing heard for 0.001 s",
  });
  const { platform, url } = await open(fake("good.mjs", `${LISTENS} setInterval(() => {}, 1000);`));
  t.is(url, "http://127.0.0.1:1");
  await platform.stop();
});
