import test from "ava";
import { apply, freshModel, type Model } from "../../../tools/tour/model.js";
import type { ChildEvent } from "../../../tools/tour/processes.js";

import { Screen } from "../../../tools/tour/screen.js";
import { runSteps, type Step, type StepResult, until } from "../../../tools/tour/tour.js";
import { render } from "../../../tools/tour/view.js";

const never = new AbortController().signal;
const good: Step<null> = { title: "good", run: async () => "1 ms" };
const bad: Step<null> = {
  title: "bad",
  run: async () => {
    throw new Error("another value");
  },
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

const clock = { now: () => 0, later: () => () => {} };

function resizable(picture: () => string[], columns: number, rows: number) {
  const written: string[] = [];
  const terminal = { write: (text: string) => written.push(text), columns, rows };
  return { written, terminal, screen: new Screen(terminal, clock, picture) };
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

test("what goes wrong is noted, and the note goes when the device is online again", (t) => {
  const offline = after({ event: "offline", reason: "no connection" });
  t.is(render(offline, NOW, 80)[2], "  state       offline");
  t.is(render(offline, NOW, 80)[8], "  note        no connection");
  t.is(render(apply(offline, { event: "online" }, NOW), NOW, 80).length, 8);
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
