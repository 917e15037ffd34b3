import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { Child, type ChildEvent } from "../../../tools/tour/processes.js";

const directory = mkdtempSync(join(tmpdir(), "mote-test-"));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, text);
  return path;
}

function started(
  path: string,
  args: string[] = [],
  patienceMs = 60_000,
): { child: Child; ready: Promise<ChildEvent>; events: ChildEvent[] } {
  const events: ChildEvent[] = [];
  let child: Child | undefined;
  const ready = new Promise<ChildEvent>((resolve) => {
    const onEvent = (event: ChildEvent): void => {
      events.push(event);
      resolve(event);
    };
    child = new Child(args, { TEST_SECRET: "by environment" }, onEvent, { cli: path, patienceMs });
  });
  return { child: child!, ready, events };
}

const STAYS = "setInterval(() => 0, 1000); process.on('disconnect', () => process.exit());";

test("a child's JSON lines become events, other lines do not", async (t) => {
  const path = script(
    "lines",
    `process.stdout.write('hello\\n{"event":"one"');
     setTimeout(() => { process.stdout.write(',"n":1}\\n{"event":"two"}'); process.disconnect(); }, 20);`,
  );
  const { child, events } = started(path);
  t.deepEqual(await child.ended, { code: 0, signal: null });
  t.deepEqual(events, [{ event: "one", n: 1 }, { event: "two" }]);
});

test("a child gets its arguments, and secrets by its environment", async (t) => {
  const path = script(
    "ready",
    `console.log(JSON.stringify({ event: "ready", args: process.argv.slice(2), secret: process.env.TEST_SECRET })); ${STAYS}`,
  );
  const { child, ready } = started(path, ["run", "--log", "json"]);
  t.deepEqual(await ready, { event: "ready", args: ["run", "--log", "json"], secret: "by environment" });
  t.is(child.name, "run");
  await child.stop();
});

test("a child is asked to stop and may finish its work", async (t) => {
  const path = script(
    "calm",
    `process.once("SIGTERM", () => process.exit(7)); console.log('{"event":"up"}'); ${STAYS}`,
  );
  const { child, ready } = started(path);
  await ready;
  t.deepEqual(await child.stop(), { code: 7, signal: null });
  t.true(child.over);
  t.deepEqual(await child.stop(), { code: 7, signal: null });
});

test("a child that does not stop is killed", async (t) => {
  const path = script("deaf", `process.on("SIGTERM", () => 0); console.log('{"event":"up"}'); ${STAYS}`);
  const { child, ready } = started(path, [], 200);
  await ready;
  t.deepEqual(await child.stop(), { code: null, signal: "SIGKILL" });
});

test("a child's last line of complaint is kept", async (t) => {
  const path = script(
    "complains",
    "console.error('first'); console.error('port in use\\n'); process.exit(1);",
  );
  const { child } = started(path);
  t.is((await child.ended).code, 1);
  t.is(child.complaint, "port in use");
});
