import test from "ava";
import { type Sink as OutputSink, WAITING } from "../../../hosts/node/bounded-output.js";
import { hiding, Lines } from "../../../tools/run/lines.js";

class Sink implements OutputSink<string> {
  text = "";
  /** Of what was written, so much waits. */
  writableLength = 0;
  isRead = true;
  readonly #listeners = new Map<string, () => void>();
  write(text: string): void {
    this.text += text;
    if (!this.isRead) this.writableLength += text.length;
  }
  on(event: "error" | "drain", listener: () => void): void {
    this.#listeners.set(event, listener);
  }
  fail(): void {
    this.#listeners.get("error")?.();
  }
  read(length = this.writableLength): void {
    this.writableLength -= length;
    if (this.writableLength === 0) this.#listeners.get("drain")?.();
  }
}

test("json: one object per line, with time and event", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", hiding([]));
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
  const lines = new Lines(sink, "text", hiding([]));
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
    const lines = new Lines(sink, format, hiding(["s3cret", "s3cret-longer"]));
    lines.tell({ event: "log", level: "info", line: "a s3cret-longer b s3cret c" });
    lines.tell({ event: "attributes.changed", keys: ["s3cret"], deleted: [] });
    lines.tell({ event: "started", title: { deep: "s3cret" } });
    t.false(sink.text.includes("s3cret"));
    t.true(sink.text.includes("***"));
  }
});

test("text that came by the network moves no cursor and starts no line", (t) => {
  const sink = new Sink();
  new Lines(sink, "text", hiding([])).tell({ event: "rpc.received", id: 1, method: "a\n\u001b[2Jb\u009b" });
  t.is(sink.text.slice(10), "RPC 1 a  [2Jb \n");
});

test("a long text is cut", (t) => {
  const sink = new Sink();
  new Lines(sink, "json", hiding([])).tell({ event: "log", level: "info", line: "x".repeat(10_000) });
  t.true(sink.text.length < 600);
});

test("when nobody reads any more, nothing is written", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", hiding([]));
  sink.fail();
  lines.tell({ event: "online" });
  t.is(sink.text, "");
});

test("a short secret is hidden where it stands alone, and words stay readable", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", hiding(["t", "$1+"]));
  lines.tell({ event: "started", title: "test t/x", line: "$1+ and 1", reason: "a test" });
  const { event, title, line, reason } = JSON.parse(sink.text);
  t.is(reason, "a test");
  t.deepEqual([event, title, line], ["started", "test ***", "*** and 1"]);
});

test("beyond 1 MiB that nobody reads, lines are left out, counted and reported", (t) => {
  for (const format of ["text", "json"] as const) {
    const sink = new Sink();
    const lines = new Lines(sink, format, hiding([]));
    sink.isRead = false;
    for (let n = 0; n < 20_000; n++) lines.tell({ event: "log", level: "info", line: "x".repeat(90) });
    t.true(sink.text.length < WAITING + 1000);
    const written = sink.text.split("\n").length - 1;
    // Half of it must be read first: one line at a time would be one report for each.
    sink.read(WAITING / 4);
    lines.tell({ event: "online" });
    t.false(sink.text.includes("left out"));
    sink.read(WAITING / 2);
    lines.tell({ event: "offline", reason: "none" });
    const report = `${20_000 - written + 1} lines were left out: nobody read the output in time`;
    t.true(sink.text.includes(report));
    t.regex(sink.text.split("\n").at(-2) ?? "", /offline/);
    if (format === "json")
      for (const line of sink.text.trimEnd().split("\n")) t.notThrows(() => JSON.parse(line));
  }
});

test("lines that were left out are reported when all is read, without another line", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", hiding([]));
  sink.isRead = false;
  for (let n = 0; n < 20_000; n++) lines.tell({ event: "log", level: "info", line: "x".repeat(90) });
  sink.read();
  t.regex(sink.text.trimEnd().split("\n").at(-1) ?? "", /\d lines were left out/);
});

const TOKEN = "q7RtYb2mXw9KcVh4Zs6N";
const FORMS: Readonly<Record<string, string>> = {
  percent: [...Buffer.from(TOKEN)].map((byte) => `%${byte.toString(16)}`).join(""),
  json: JSON.stringify(JSON.stringify({ token: TOKEN })),
  base64: Buffer.from(`device:${TOKEN}`).toString("base64"),
  capitals: TOKEN.toUpperCase(),
};

for (const [form, text] of Object.entries(FORMS))
  test(`a secret that is told of later shows in no line, as a name of a member neither: ${form}`, (t) => {
    for (const format of ["text", "json"] as const) {
      const sink = new Sink();
      const lines = new Lines(sink, format, hiding([]));
      lines.redactor.pin(TOKEN);
      lines.tell({ event: "log", level: "info", line: `sent ${text}` });
      lines.tell({ event: "started", title: { [text]: [text] }, version: text });
      t.false(sink.text.includes(text.slice(0, 12)));
    }
  });

test("a secret that a program prints in two lines does not show", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "text", hiding([TOKEN]));
  for (const line of [TOKEN.slice(0, 5), TOKEN.slice(5), "and then"])
    lines.tell({ event: "log", level: "info", line });
  t.false(sink.text.includes(TOKEN.slice(5)));
  t.true(sink.text.includes("and then"));
});
