import test from "ava";
import { Lines, type Output } from "../../../hosts/node/run/lines.js";

class Sink implements Output {
  text = "";
  fail = (): void => {};
  write(text: string): void {
    this.text += text;
  }
  on(_event: "error", listener: () => void): void {
    this.fail = listener;
  }
}

test("json: one object per line, with time and event", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", []);
  lines.tell({ event: "online" });
  lines.tell({ event: "telemetry.delivered", points: 12 });
  const [first, second] = sink.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.is(typeof first.ts, "number");
  t.is(first.event, "online");
  t.like(second, { event: "telemetry.delivered", points: 12 });
});

test("text: a line for people", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "text", []);
  lines.tell({ event: "telemetry.delivered", points: 1 });
  lines.tell({ event: "offline", reason: "connection refused" });
  lines.tell({ event: "attributes.changed", keys: ["a", "b"], deleted: ["c"] });
  lines.tell({ event: "firmware.state", state: "DOWNLOADING", version: "2.0.0", progress: 40 });
  const said = sink.text
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(10));
  t.deepEqual(said, [
    "delivered 1 point",
    "offline: connection refused",
    "attributes: a, b; deleted: c",
    "firmware 2.0.0: DOWNLOADING 40 %",
  ]);
});

test("a secret shows in neither format, wherever it stands", (t) => {
  for (const format of ["text", "json"] as const) {
    const sink = new Sink();
    const lines = new Lines(sink, format, ["s3cret", "s3cret-longer"]);
    lines.tell({ event: "log", level: "info", line: "a s3cret-longer b s3cret c" });
    lines.tell({ event: "attributes.changed", keys: ["s3cret"], deleted: [] });
    lines.tell({ event: "started", title: { deep: "s3cret" } });
    t.false(sink.text.includes("s3cret"));
    t.true(sink.text.includes("a *** b *** c"));
  }
});

test("text that came by the network moves no cursor and starts no line", (t) => {
  const sink = new Sink();
  new Lines(sink, "text", []).tell({ event: "rpc.received", id: 1, method: "a\n\u001b[2Jb\u009b" });
  t.is(sink.text.slice(10), "RPC 1 a  [2Jb \n");
});

test("a long text is cut", (t) => {
  const sink = new Sink();
  new Lines(sink, "json", []).tell({ event: "log", level: "info", line: "x".repeat(10_000) });
  t.true(sink.text.length < 600);
});

test("when nobody reads any more, nothing is written", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", []);
  sink.fail();
  lines.tell({ event: "online" });
  t.is(sink.text, "");
});

test("a short secret is hidden where it stands alone, and words stay readable", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", ["t", "$1+"]);
  lines.tell({ event: "started", title: "test t/x", line: "$1+ and 1" });
  const { event, title, line } = JSON.parse(sink.text);
  t.deepEqual([event, title, line], ["started", "test ***/x", "*** and 1"]);
});
