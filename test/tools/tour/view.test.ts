import test from "ava";
import { apply, freshModel, type Model } from "../../../tools/tour/model.js";
import type { ChildEvent } from "../../../tools/tour/processes.js";
import { render, summary } from "../../../tools/tour/view.js";

const NOW = 1_760_000_000_000;

function after(...events: ChildEvent[]): Model {
  const start = freshModel("http://127.0.0.1:8080", "sample");
  return events.reduce((model, event) => apply(model, event, NOW), start);
}

test("a fresh view shows the platform's address first", (t) => {
  t.deepEqual(render(after(), NOW, 80), [
    "  platform    http://127.0.0.1:8080",
    "  device      sample",
    "  state       starting",
    "  delivered   0 points",
    "  last RPC    none",
    "  attributes  no change",
    "  update      none",
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
    "  platform    http://127.0.0.1:8080",
    "  device      sample-7, firmware sample 1.0.0",
    "  state       online",
    "  delivered   7 points",
    "  last RPC    setLed #0 answered, 12 s ago",
    "  attributes  set interval, deleted mode, 12 s ago",
    "  update      2.0.0 downloading [############            ]  50 %",
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
  t.is(render(offline, NOW, 80)[7], "  note        no connection");
  t.is(render(apply(offline, { event: "online" }, NOW), NOW, 80).length, 7);
});

test("dropped points are counted and shown", (t) => {
  const model = after({ event: "telemetry.dropped", points: 5, reason: "full" });
  t.is(render(model, NOW, 80)[3], "  delivered   0 points, 5 dropped");
  t.is(summary(model), "starting, 0 points, 5 dropped");
});

test("an unknown event changes nothing", (t) => {
  const model = after();
  t.is(apply(model, { event: "constructor" }, NOW), model);
  t.is(apply(model, { event: "new in 9.0" }, NOW), model);
});

test("members of a wrong type are taken for absent", (t) => {
  const model = after(
    { event: "rpc.received", id: "7", method: 5 },
    { event: "attributes.changed", keys: "interval", deleted: [1] },
    { event: "telemetry.delivered", points: "many" },
    { event: "firmware.state" },
  );
  t.deepEqual(render(model, NOW, 80).slice(3), [
    "  delivered   0 points",
    "  last RPC     #7 running, 0 s ago",
    "  attributes  changed, 0 s ago",
    "  update       ",
  ]);
});

test("no line is wider than the terminal", (t) => {
  const model = after(
    { event: "rpc.received", id: 1, method: "x".repeat(500) },
    { event: "offline", reason: "日".repeat(80) },
  );
  const lines = render(model, NOW, 40);
  t.is(lines[4], `  last RPC    ${"x".repeat(25)}…`);
  t.is(lines[7], `  note        ${"日".repeat(12)}…`);
});

test("text of a device cannot steer the terminal", (t) => {
  const model = after({ event: "rpc.received", id: 1, method: "\u001b[2J\u009b1m\u202ex\n" });
  t.is(render(model, NOW, 80)[4], "  last RPC    \ufffd[2J\ufffd1m\ufffdx\ufffd #1 running, 0 s ago");
});

test("where the bar has no room its figure is left", (t) => {
  const model = after({ event: "firmware.state", state: "DOWNLOADING", version: "2.0.0", progress: 42 });
  t.is(render(model, NOW, 80)[6], "  update      2.0.0 downloading [##########              ]  42 %");
  t.is(render(model, NOW, 50)[6], "  update      2.0.0 downloading 42 %");
});
