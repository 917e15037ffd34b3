// What a board prints, and what it means: of a port that is played, and of a terminal that is one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { PassThrough, type Readable } from "node:stream";
import test from "ava";
import { followSerial, Watch } from "../../../../tools/moddable/flash/serial-log.js";
import { onPath } from "../../../../tools/moddable/program.js";

function watched() {
  const lines: string[] = [];
  const notes: string[] = [];
  return {
    port: "/dev/x",
    lines,
    notes,
    line: (text: string) => lines.push(text),
    note: (text: string) => notes.push(text),
  };
}

test("lines are put together from pieces, and one without an end is shown in the end", (t) => {
  const log = watched();
  const watch = new Watch(log);
  for (const piece of ["ESP-ROM:esp", "32c3\r", "\nBuild\r\nwaits ", "for"]) watch.take(piece);
  t.deepEqual(log.lines, ["ESP-ROM:esp32c3", "Build"]);
  watch.end();
  t.deepEqual(log.lines.at(-1), "waits for");
  watch.take("x".repeat(5000));
  t.is(log.lines.at(-1)?.length, 5000);
  t.deepEqual(log.notes, []);
});

// As the ROM of a C3 prints it.
const DOWNLOAD = "rst:0x1 (POWERON),boot:0x2 (DOWNLOAD(USB/UART0/1))\r\nwaiting for download\r\n";
const START = "rst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)\r\nSPIWP:0xee\r\n";

test("a board that stays in its download mode is said, once for each time it gets there", (t) => {
  const log = watched();
  const watch = new Watch(log);
  watch.take(DOWNLOAD);
  watch.take(DOWNLOAD);
  t.is(log.notes.length, 1);
  t.regex(log.notes[0]!, /BOOT and press RESET/);
  watch.take(START);
  t.is(log.notes.length, 1);
  watch.take(DOWNLOAD);
  t.is(log.notes.length, 2);
});

/** Time that passes when a test says so. */
function played(ports: (Readable | undefined)[], look?: () => string | undefined) {
  const timers = new Set<{ ms: number; then: () => void }>();
  const log = watched();
  const stop = new AbortController();
  const timer = (ms: number, then: () => void) => {
    const one = { ms, then };
    timers.add(one);
    return () => void timers.delete(one);
  };
  const pass = async (ms: number): Promise<void> => {
    for (const one of [...timers])
      if (one.ms <= ms) {
        timers.delete(one);
        one.then();
      }
    await new Promise((go) => setImmediate(go));
  };
  const opened: string[] = [];
  const open = (port: string) => {
    opened.push(port);
    return ports.shift();
  };
  const over = followSerial({ ...log, ...(look && { look }), stop: stop.signal, open, timer });
  return { log, stop, pass, over, timers, opened };
}

test("a port that goes away at a reset is waited for, and its lines go on", async (t) => {
  const [first, second] = [new PassThrough(), new PassThrough()];
  const { log, stop, pass, over, timers } = played([first, undefined, undefined, second]);
  first.write("one\r\nhal");
  await pass(0);
  first.end();
  for (let n = 0; n < 6; n++) await pass(250);
  second.write("two\r\n");
  await pass(0);
  t.deepEqual(log.lines, ["one", "hal", "two"]);
  t.is(log.notes.length, 2);
  t.regex(log.notes[0]!, /went away.*plug the board in again/);
  t.regex(log.notes[1]!, /is back/);
  stop.abort();
  await over;
  t.is(timers.size, 0);
});

test("one that comes back by another name is read there", async (t) => {
  const [first, second] = [new PassThrough(), new PassThrough()];
  let name = "/dev/x";
  const { log, stop, pass, over, opened } = played([first, second], () => name);
  await pass(0);
  name = "/dev/y";
  first.end();
  for (let n = 0; n < 6; n++) await pass(250);
  second.write("two\r\n");
  await pass(0);
  t.deepEqual([opened, log.lines], [["/dev/x", "/dev/y"], ["two"]]);
  t.deepEqual(log.notes.slice(1), ["it is back, as /dev/y"]);
  stop.abort();
  await over;
});

test("a board that prints nothing is said after ten seconds; one that answers late is not", async (t) => {
  const silent = played([new PassThrough()]);
  await silent.pass(9999);
  t.deepEqual(silent.log.notes, []);
  await silent.pass(10_000);
  t.regex(silent.log.notes[0]!, /RESET/);
  silent.stop.abort();
  await silent.over;
  const port = new PassThrough();
  const late = played([port]);
  await late.pass(9999);
  port.write("I am here");
  await late.pass(0);
  await late.pass(10_000);
  t.deepEqual(late.log.notes, []);
  late.stop.abort();
  await late.over;
});

test("a port by an address is read as one of this machine", async (t) => {
  const server = createServer((socket) => socket.write("hello\r\n")).listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const stop = new AbortController();
  const log = watched();
  const line = (text: string): void => {
    log.line(text);
    stop.abort();
  };
  await followSerial({ ...log, port: `socket://127.0.0.1:${port}`, line, stop: stop.signal });
  t.deepEqual(log.lines, ["hello"]);
});

const HAS_TERMINALS =
  process.platform === "linux" && ["script", "stty"].every((name) => onPath(name, process.env));
(HAS_TERMINALS ? test : test.skip)("a serial port is set up, read and let go", async (t) => {
  // What is written to its other side is what a board would send.
  const terminal = spawn("script", ["-qfc", "tty; sleep 60", "/dev/null"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  t.teardown(() => terminal.kill());
  const [name] = await once(terminal.stdout.setEncoding("utf8"), "data");
  const stop = new AbortController();
  const log = watched();
  const line = (text: string): void => {
    log.line(text);
    stop.abort();
  };
  const over = followSerial({ ...log, port: String(name).trim(), line, stop: stop.signal });
  terminal.stdin.write("caf\u00e9 \u001b[32mI (24) boot\r\n");
  await over;
  t.deepEqual(log.lines, ["caf\u00e9 \u001b[32mI (24) boot"]);
  t.deepEqual(log.notes, []);
});
