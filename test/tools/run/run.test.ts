import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import test from "ava";
import { BoundedOutput, type Sink as OutputSink, WAITING } from "../../../hosts/node/bounded-output.js";
import type { Agent, AgentEvent, AgentEvents } from "../../../src/index.js";
import { agentOptions, follow } from "../../../tools/run/drive.js";
import { cutLine, eachLine } from "../../../tools/run/each-line.js";
import { EventChannel } from "../../../tools/run/event-channel.js";
import { hiding, Lines } from "../../../tools/run/lines.js";
import type { Event } from "../../../tools/run/messages.js";
import { ServiceManager } from "../../../tools/run/service-manager.js";
import { SignsOfLife } from "../../../tools/run/signs-of-life.js";
import { configFor } from "./images.js";

class Sink implements OutputSink<string> {
  text = "";
  readonly writableLength = 0;
  write(text: string): void {
    this.text += text;
  }
  on(): void {}
}

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
    "firmware 2.0.0: downloading 40 %",
  ]);
});

test("a secret shows in neither format, wherever it stands", (t) => {
  for (const format of ["text", "json"] as const) {
    const sink = new Sink();
    const lines = new Lines(sink, format, hiding(["s3cret", "s3cret-longer"]));
    lines.tell({ event: "log", level: "info", line: "a s3cret-longer b s3cret c" });
    lines.tell({ event: "attributes.changed", keys: ["s3cret"], deleted: [] });
    lines.tell({ event: "started", title: { deep: "s3cret" } });
    lines.redactor.pin("told-of-later");
    lines.tell({ event: "started", title: { "told-of-later": ["told-of-later"] } });
    t.false(/s3cret|told-of-later/.test(sink.text));
    t.true(sink.text.includes("***"));
  }
});

test("text that came by the network moves no cursor and starts no line", (t) => {
  const sink = new Sink();
  new Lines(sink, "text", hiding([])).tell({ event: "rpc.received", id: 1, method: "a\n\u001b[2Jb\u009b" });
  t.is(sink.text.slice(10), "RPC 1 a  [2Jb \n");
  new Lines(sink, "json", hiding([])).tell({ event: "log", level: "info", line: "x".repeat(10_000) });
  t.true(sink.text.length < 700, "a long text is cut");
});

test("a claim key of two letters hides no other text", (t) => {
  const sink = new Sink();
  const lines = new Lines(sink, "json", hiding(["on", "a"]));
  lines.tell({ event: "started", title: "a lamp", line: "the light is on" });
  t.like(JSON.parse(sink.text), { title: "a lamp", line: "the light is on" });
});

test("a secret is hidden before a long text is cut, wherever it stands", (t) => {
  const secret = "s3cret-of-the-garden";
  for (let before = 470; before < 505; before++) {
    const sink = new Sink();
    const line = `${"x".repeat(before)}${secret} and more ${"y".repeat(500)}`;
    new Lines(sink, "json", hiding([secret])).tell({ event: "log", level: "info", line });
    t.false(sink.text.includes("s3c"), `${before}`);
  }
});

test("a printed line is cut only after its secret was hidden", async (t) => {
  const secret = "s3cret-of-the-garden";
  const redactor = hiding([secret]);
  for (let before = 1980; before < 2001; before++) {
    const line = `${"x".repeat(before)}${secret}${"y".repeat(9000)}`;
    let shown = "";
    const stream = Readable.from([line.slice(0, before + 5), `${line.slice(before + 5)}\n`]);
    eachLine(stream, (text) => {
      shown += cutLine(text, (whole) => redactor.clean(whole));
    });
    await finished(stream);
    t.true(shown.length > 1900 && shown.length <= 2000);
    t.false(shown.includes("s3c"), `${before}`);
  }
});

// What programs read: the events of `mote run --json`, by name and member.

type EventCase = { [E in AgentEvent]: [E, AgentEvents[E], Event] }[AgentEvent];

const EVENTS: readonly EventCase[] = [
  [
    "provisioned",
    { deviceName: "greenhouse-7", adopted: false },
    { event: "provisioned", deviceName: "greenhouse-7", adopted: false },
  ],
  ["online", {}, { event: "online" }],
  ["offline", { reason: "no route" }, { event: "offline", reason: "no route" }],
  ["delivered", { points: 3 }, { event: "telemetry.delivered", points: 3 }],
  ["delivery", { behind: true, points: 9 }, { event: "telemetry.delivery", behind: true, points: 9 }],
  ["drop", { points: 2, reason: "full" }, { event: "telemetry.dropped", points: 2, reason: "full" }],
  [
    "attributes",
    { keys: ["a", "b"], deleted: ["b"] },
    { event: "attributes.changed", keys: ["a", "b"], deleted: ["b"] },
  ],
  ["rpc", { stage: "received", id: 4, method: "m" }, { event: "rpc.received", id: 4, method: "m" }],
  ["rpc", { stage: "answered", id: 4, method: "m" }, { event: "rpc.answered", id: 4, method: "m" }],
  [
    "firmware",
    { state: "FAILED", version: "2.0.0", error: "why" },
    { event: "firmware.state", state: "FAILED", version: "2.0.0", error: "why" },
  ],
  ["refused", { what: "token", reason: "401" }, { event: "refused", what: "token", reason: "401" }],
  ["restart", { reason: "firmware" }, { event: "restart", reason: "firmware" }],
];

test("the events of `mote run --json` keep their names and members", (t) => {
  for (const [name, detail, line] of EVENTS) {
    const emitted: Event[] = [];
    const on = (event: string, listener: (detail: unknown) => void) => event === name && listener(detail);
    follow({ on } as unknown as Agent, (event) => emitted.push(event));
    t.deepEqual(emitted, [line]);
  }
});

test("allows fw_url hosts from the image and from the command line", (t) => {
  const config = { ...configFor("/nowhere"), firmwareHosts: ["files.example.com"] };
  const image = { title: "lamp", version: "1.0.0", urlHosts: ["lamp.example.com:8443"] };
  t.deepEqual(agentOptions(config, image).firmware?.urlHosts, ["lamp.example.com:8443", "files.example.com"]);
  t.deepEqual(
    agentOptions(configFor("/nowhere"), { title: "lamp", version: "1.0.0" }).firmware?.urlHosts,
    [],
  );
});

test("events that a supervisor does not take are left out, and counted once it takes them", (t) => {
  const taken: (() => void)[] = [];
  const events: Event[] = [];
  const channel = new EventChannel((message, done) => {
    if (message.kind === "event") events.push(message.event);
    taken.push(done);
  });
  const output = new BoundedOutput<Event>(channel, (count) => ({ event: "left out", count }));
  const event = { event: "log", line: "x".repeat(1000) };
  for (let n = 0; n < 3000; n++) output.write(event);
  const { length } = events;
  t.true(length * 1000 < WAITING + 2000);
  for (const done of taken.splice(0)) done();
  t.is(channel.writableLength, JSON.stringify(events.at(-1)).length);
  t.deepEqual(events.at(-1), { event: "left out", count: 3000 - length });
  output.write(event);
  t.deepEqual(events.at(-1), event);
});

class Rig {
  now = 0;
  readonly sent: string[][] = [];
  answer: Error | null = null;
  /** Undefined: each is done at once. */
  late: (() => void)[] | undefined;
  readonly manager = new ServiceManager(
    (variables, done) => {
      this.sent.push([...variables]);
      if (this.late) this.late.push(() => done(this.answer));
      else done(this.answer);
    },
    180_000,
    () => this.now,
  );

  start(): void {
    this.manager.event({ event: "started" }, "started greenhouse 1.0.0");
  }
}

test("notifies systemd once that it is ready, when the worker has started", (t) => {
  const rig = new Rig();
  rig.manager.event({ event: "firmware.flashed" }, "firmware put in");
  rig.manager.beat(true);
  t.deepEqual(rig.sent, []);
  rig.start();
  rig.start();
  t.deepEqual(rig.sent, [["READY=1", "STATUS=started greenhouse 1.0.0"]]);
});

test("feeds the watchdog only on signs of life, at most four times per interval", (t) => {
  const rig = new Rig();
  rig.start();
  rig.sent.length = 0;
  for (; rig.now < 180_000; rig.now += 5000) rig.manager.beat(true);
  t.deepEqual(rig.sent, Array(4).fill(["WATCHDOG=1"]));
  for (; rig.now < 400_000; rig.now += 5000) rig.manager.beat(false);
  t.is(rig.sent.length, 4, "the worker's heart beats, the agent is silent");
  rig.manager.beat(true);
  t.is(rig.sent.length, 5);
});

test("waits for a hanging notification, and reports a failed one once", (t) => {
  const rig = new Rig();
  const said: string[] = [];
  rig.manager.warnBy((line) => void said.push(line));
  rig.late = [];
  rig.answer = new Error("spawn systemd-notify ENOENT\nmore");
  rig.start();
  rig.now = 100_000;
  rig.manager.beat(true);
  t.is(rig.sent.length, 1);
  for (const done of rig.late.splice(0)) done();
  rig.manager.beat(true);
  for (const done of rig.late.splice(0)) done();
  t.is(rig.sent.length, 2);
  t.deepEqual(said, ["systemd can't be notified (READY=1): spawn systemd-notify ENOENT"]);
});

test("connections and wakes count as signs of life", (t) => {
  let now = 0;
  const signs = new SignsOfLife(() => now);
  let happen: (() => void) | undefined;
  const open = signs.watch((_name, _port, _secure, event) => {
    happen = () => event("readable");
    return {} as never;
  });
  now = 1_799_999;
  t.true(signs.lives);
  open("host", 80, false, () => {});
  now = 3_599_998;
  t.true(signs.lives);
  happen?.();
  now += 1_800_000;
  t.false(signs.lives);
  signs.expectWakes(3_600_000);
  t.true(signs.lives);
  now += 3 * 3_600_000;
  t.false(signs.lives);
  signs.sign();
  t.true(signs.lives);
});

test("the systemd unit outlasts the longest crash pause and restarts after every exit code", (t) => {
  const unit = readFileSync("tools/systemd/mote@.service", "utf8");
  const of = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  t.is(of("Type"), "notify");
  t.is(of("NotifyAccess"), "all");
  t.true(Number(of("WatchdogSec")) >= 2 * 60);
  t.is(of("Restart"), "always");
  t.notRegex(unit, /^(RestartPreventExitStatus|SuccessExitStatus)/m);
  t.false(/^MemoryDenyWriteExecute/m.test(unit), "Node could not start");
});
