// Follows the serial log of a board line by line, also across resets.
import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { connect } from "node:net";
import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import { SdkError } from "../sdk.js";
import { isAddress } from "./ports.js";
import type { ReturningPort } from "./returning-port.js";

const BAUD = 115_200;
/** A board that runs prints at its start, which takes a second. */
const QUIET_MS = 10_000;
const RETRY_MS = 250;
/** Of a line that has no end. */
const LONGEST = 2000;

export interface SerialLog {
  readonly cable: ReturningPort;
  /** A line that the board prints. */
  line(text: string): void;
  /** A remark about the port, with the next step. */
  note(text: string): void;
  readonly stop: AbortSignal;
  /** Opens the port; undefined while it is not there. */
  readonly open?: (port: string) => Readable | undefined;
  /** Calls back after so many ms, unless what it returns is called before. */
  readonly timer?: (ms: number, then: () => void) => () => void;
}

/** Resolves when it is stopped. Throws SdkError if the port can't be used at all. */
export async function followSerial({
  cable,
  open = openPort,
  timer = after,
  ...log
}: SerialLog): Promise<void> {
  const watch = new Watch(log);
  let isAway = false;
  let isFirst = true;
  while (!log.stop.aborted) {
    const before = cable.path;
    const found = cable.look();
    const stream = found === undefined ? undefined : open(found);
    if (stream) {
      if (isAway) log.note(found === before ? `${before} is back` : `it is back, as ${found}`);
      const quiet = isFirst ? timer(QUIET_MS, () => watch.quiet()) : () => {};
      isFirst = false;
      await read(stream, log.stop, (text) => {
        quiet();
        watch.take(text);
      });
      quiet();
      if (log.stop.aborted) return;
      watch.end();
    }
    if (!isAway || stream)
      log.note(
        `${cable.path} went away: a chip with USB of its own takes it along at a reset. Waiting; if it stays away, plug the board in again`,
      );
    isAway = true;
    await pause(timer, log.stop);
  }
}

/** Until the port is looked for again. */
function pause(timer: typeof after, stop: AbortSignal): Promise<void> {
  return new Promise((go) => {
    const end = (): void => {
      cancel();
      stop.removeEventListener("abort", end);
      go();
    };
    const cancel = timer(RETRY_MS, end);
    stop.addEventListener("abort", end);
  });
}

/** Lines out of what comes, and what they mean. */
export class Watch {
  readonly #log: Pick<SerialLog, "line" | "note">;
  #rest = "";
  #isDownloading = false;

  constructor(log: Pick<SerialLog, "line" | "note">) {
    this.#log = log;
  }

  take(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    if (this.#rest.length <= LONGEST) return;
    this.#line(this.#rest);
    this.#rest = "";
  }

  /** What has no end yet is shown as it is. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
  }

  quiet(): void {
    this.#log.note(
      "nothing came in 10 s. Press RESET: a board that starts prints. If it stays silent, it may be in its download mode (let go of BOOT, press RESET), or its console is at another port",
    );
  }

  #line(line: string): void {
    this.#log.line(line);
    const isDownloading = DOWNLOADING.test(line);
    if (isDownloading && !this.#isDownloading)
      this.#log.note(
        "the board stays in its download mode and does not run its program. Let go of BOOT and press RESET; without such a button take its power away and give it again",
      );
    // Until it was started in another way.
    if (isDownloading || STARTED.test(line)) this.#isDownloading = isDownloading;
  }
}

/** Of the boot loader in ROM. */
const DOWNLOADING = /waiting for download|\bboot:0x[0-9a-f]+ \(DOWNLOAD/;
const STARTED = /\bboot:0x[0-9a-f]+ \(/;

function read(stream: Readable, stop: AbortSignal, take: (text: string) => void): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      stop.removeEventListener("abort", end);
      stream.destroy();
      done();
    };
    stop.addEventListener("abort", end, { once: true });
    stream.setEncoding("utf8").on("data", take).on("error", end).on("end", end).on("close", end);
  });
}

function openPort(port: string): Readable | undefined {
  if (isAddress(port)) {
    const { hostname, port: number } = new URL(port);
    return connect(Number(number), hostname);
  }
  // Lines for both, so that a board with the usual circuit is not reset by it; no hang-up at the
  // end either.
  const flag = process.platform === "darwin" ? "-f" : "-F";
  const words = [flag, port, `${BAUD}`, "raw", "-echo", "clocal", "-hupcl"];
  const { status, error } = spawnSync("stty", words, { stdio: "ignore" });
  if (error) throw new SdkError("the serial log requires stty, which is missing (skip the log: --no-log)");
  if (status !== 0) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(port, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY);
    return new ReadStream(fd);
  } catch {
    // It went away in between, or the system has not made it ours yet.
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
}

function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
