import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { apply, freshModel, type Model } from "../../../tools/tour/model.js";
import { Child, type ChildEvent } from "../../../tools/tour/processes.js";

import { Screen } from "../../../tools/tour/screen.js";
import { runSteps, type Step, type StepResult, until } from "../../../tools/tour/tour.js";
import { render, summary } from "../../../tools/tour/view.js";

const never = new AbortController().signal;
const good: Step<null> = { title: "good", run: async () => "1 ms" };
const bad: Step<null> = {
  title: "bad",
  run: async () => {
    throw new Error("another value");
  },
};
const endless: Step<null> = {
  title: "endless",
  limitMs: 20,
  run: (_, signal) => until<string>(signal, async () => undefined, 5),
};

test("each step is shown as it ends, and a failed one does not stop the others", async (t) => {
  const shown: StepResult[] = [];
  const results = await runSteps([good, bad, good], null, never, (result) => shown.push(result));
  t.deepEqual(shown, [
    { title: "good", ok: true, figure: "1 ms" },
    { title: "bad", ok: false, figure: "another value" },
    { title: "good", ok: true, figure: "1 ms" },
  ]);
  t.deepEqual(results, shown);
});

test("a step that never sees its capability fails at its limit", async (t) => {
  const [result, next] = await runSteps([endless, good], null, never, () => undefined);
  t.deepEqual(result, { title: "endless", ok: false, figure: "not seen within 0.02 s" });
  t.true(next?.ok);
});

test("a step that heeds no signal fails at its limit all the same", async (t) => {
  const deaf: Step<null> = { title: "deaf", limitMs: 10, run: () => new Promise(() => undefined) };
  const [result] = await runSteps([deaf], null, never, () => undefined);
  t.false(result?.ok);
});

test("at the end of the time the running step fails and the others are not reached", async (t) => {
  const time = new AbortController();
  const last: Step<null> = {
    title: "last",
    run: async (_, signal) => {
      time.abort();
      return until<string>(signal, async () => undefined);
    },
  };
  const results = await runSteps([good, last, good], null, time.signal, () => undefined);
  t.deepEqual(
    results.map(({ ok, figure }) => `${ok} ${figure}`),
    ["true 1 ms", "false not done in time", "false not reached"],
  );
});

test("the signal of a step ends with the step", async (t) => {
  let seen: AbortSignal | undefined;
  const step: Step<null> = {
    title: "keeps its signal",
    run: async (_, signal) => {
      seen = signal;
      return "";
    },
  };
  await runSteps([step], null, never, () => undefined);
  t.true(seen?.aborted);
});

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

test("keeps a child's last line of standard error", async (t) => {
  const path = script(
    "complains",
    "console.error('first'); console.error('port in use\\n'); process.exit(1);",
  );
  const { child } = started(path);
  t.is((await child.ended).code, 1);
  t.is(child.lastStderrLine, "port in use");
});

class Clock {
  at = 0;
  due: { at: number; call: () => void }[] = [];
  now(): number {
    return this.at;
  }
  later(ms: number, call: () => void): () => void {
    const entry = { at: this.at + ms, call };
    this.due.push(entry);
    return () => {
      this.due = this.due.filter((other) => other !== entry);
    };
  }
  pass(ms: number): void {
    this.at += ms;
    for (const entry of this.due.splice(0)) {
      if (entry.at <= this.at) entry.call();
      else this.due.push(entry);
    }
  }
}

function set(picture: () => string[]) {
  const clock = new Clock();
  const written: string[] = [];
  const terminal = { write: (text: string) => written.push(text), columns: 41 };
  return { clock, written, screen: new Screen(terminal, clock, picture) };
}

test("a picture is redrawn in place", (t) => {
  let count = 0;
  const { clock, written, screen } = set(() => [`count ${count++}`, "end"]);
  screen.refresh();
  clock.pass(250);
  screen.refresh();
  t.deepEqual(written, ["count 0\nend\n", "\u001b[2A\u001b[Jcount 1\nend\n"]);
});

test("many changes make four pictures a second at most, the last change among them", (t) => {
  let count = 0;
  const { clock, written, screen } = set(() => [`${count}`]);
  for (; count < 100; count++) {
    screen.refresh();
    clock.pass(10);
  }
  clock.pass(250);
  t.is(written.length, 5);
  t.true(written.at(-1)?.endsWith("99\n"));
});

test("a lasting line stays above the picture", (t) => {
  const { written, screen } = set(() => ["picture"]);
  screen.refresh();
  screen.print(["said"]);
  t.deepEqual(written, ["picture\n", "\u001b[1A\u001b[Jsaid\n", "picture\n"]);
});

function resizable(picture: () => string[], columns: number, rows: number) {
  const written: string[] = [];
  const terminal = { write: (text: string) => written.push(text), columns, rows };
  return { written, terminal, screen: new Screen(terminal, new Clock(), picture) };
}

test("a terminal made narrower has its broken lines erased too", (t) => {
  const { written, terminal, screen } = resizable(() => ["x".repeat(30), "", "short"], 41, 24);
  screen.refresh();
  terminal.columns = 20;
  screen.close();
  t.true(written.at(-1)?.startsWith("\u001b[4A\u001b[J"));
});

const NOW = 1_760_000_000_000;

function after(...events: ChildEvent[]): Model {
  const start = freshModel("http://127.0.0.1:8080", "sample");
  return events.reduce((model, event) => apply(model, event, NOW), start);
}

test("a fresh view shows the console's address and login first", (t) => {
  t.deepEqual(render(after(), NOW, 80), [
    "  console     http://127.0.0.1:8080/  login tenant@thingsboard.org / tenant",
    "  device      sample",
    "  state       starting",
    "  delivered   0 points",
    "  last RPC    none",
    "  attributes  no change",
    "  update      none",
    "  values      none yet",
  ]);
});

test("the view of a device at work shows what it did last, and when", (t) => {
  const model = after(
    { event: "started", title: "sample", version: "1.0.0" },
    { event: "provisioned", deviceName: "sample-7" },
    { event: "online" },
    { event: "telemetry.delivered", points: 3 },
    { event: "telemetry.delivered", points: 4 },
    { event: "rpc.received", id: 0, method: "setLed" },
    { event: "rpc.answered", id: 0 },
    { event: "attributes.changed", keys: ["interval", "mode"], deleted: ["mode"] },
    { event: "firmware.state", state: "DOWNLOADING", version: "2.0.0", progress: 50 },
  );
  t.deepEqual(render(model, NOW + 12_000, 80), [
    "  console     http://127.0.0.1:8080/  login tenant@thingsboard.org / tenant",
    "  device      sample-7, firmware sample 1.0.0",
    "  state       online",
    "  delivered   7 points",
    "  last RPC    setLed #0 answered, 12 s ago",
    "  attributes  set interval, deleted mode, 12 s ago",
    "  update      2.0.0 downloading [############            ]  50 %",
    "  values      none yet",
  ]);
});

test("an RPC is running until it is answered, and an error answer shows its code", (t) => {
  const running = after({ event: "rpc.received", id: 4, method: "burst" });
  t.is(render(running, NOW, 80)[4], "  last RPC    burst #4 running, 0 s ago");
  const failed = apply(running, { event: "rpc.answered", id: 4, error: "TIMEOUT" }, NOW);
  t.is(render(failed, NOW + 180_000, 80)[4], "  last RPC    burst #4 answered TIMEOUT, 3 min ago");
});

test("a failed update shows its reason", (t) => {
  const model = after({
    event: "firmware.state",
    state: "FAILED",
    version: "2.0.0",
    error: "checksum differs",
  });
  t.is(render(model, NOW, 80)[6], "  update      2.0.0 failed checksum differs");
});

test("what goes wrong is noted, and the note goes when the device is online again", (t) => {
  const offline = after({ event: "offline", reason: "no connection" });
  t.is(render(offline, NOW, 80)[2], "  state       offline");
  t.is(render(offline, NOW, 80)[8], "  note        no connection");
  t.is(render(apply(offline, { event: "online" }, NOW), NOW, 80).length, 8);
});

test("dropped points are counted and shown", (t) => {
  const model = after({ event: "telemetry.dropped", points: 5, reason: "full" });
  t.is(render(model, NOW, 80)[3], "  delivered   0 points, 5 dropped");
  t.is(summary(model), "starting, 0 points, 5 dropped");
});

test("no line is wider than the terminal", (t) => {
  const model = after(
    { event: "rpc.received", id: 1, method: "x".repeat(500) },
    { event: "offline", reason: "日".repeat(80) },
  );
  const lines = render(model, NOW, 40);
  t.is(lines[4], `  last RPC    ${"x".repeat(25)}…`);
  t.is(lines[8], `  note        ${"日".repeat(12)}…`);
});

test("text of a device cannot steer the terminal", (t) => {
  const model = after({ event: "rpc.received", id: 1, method: "\u001b[2J\u009b1m\u202ex\n" });
  t.is(render(model, NOW, 80)[4], "  last RPC    \ufffd[2J\ufffd1m\ufffdx\ufffd #1 running, 0 s ago");
});
