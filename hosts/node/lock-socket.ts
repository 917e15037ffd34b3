// Asks the holder of a lock whether it is alive. A host is opened by a synchronous call, so a
// thread connects while the caller blocks.
import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Worker } from "node:worker_threads";

/** A negative number is a verdict, a positive one the holder's process id. */
const DEAD = -1;
const SILENT = -2;
const DENIED = -3;
/** How long the holder may take to answer. */
const ANSWER_MS = 5000;
/** A busy machine may take long to start a thread. The holder's time begins then. */
const THREAD_MS = 60_000;

// Text, not a file beside this one, which a bundler would leave behind. Not each end without an
// answer is final: a holder without free file descriptors closes, too.
const ASK = `
  const { address, ms, answer } = require("node:worker_threads").workerData;
  const verdicts = { ECONNREFUSED: ${DEAD}, ENOENT: ${DEAD}, EACCES: ${DENIED}, EPERM: ${DENIED} };
  const say = (what) => {
    Atomics.compareExchange(answer, 0, 0, what);
    Atomics.notify(answer, 0);
    process.exit();
  };
  const connect = () => {
    const socket = require("node:net").connect(address);
    socket.on("data", (pid) => say(Number(pid)));
    socket.on("error", ({ code }) => code in verdicts && say(verdicts[code]));
    socket.on("close", () => setTimeout(connect, 50));
  };
  setTimeout(say, ms, ${SILENT});
  connect();
`;

/**
 * The process id that the socket at `path` answers, or what is known without an answer: nobody
 * listens, somebody listens and does not answer within `ms`, or another user's socket. Blocks.
 * Throws.
 */
export function ask(path: string, ms = ANSWER_MS): number | "dead" | "silent" | "denied" {
  return atAddress(path, (address) => {
    const answer = new Int32Array(new SharedArrayBuffer(4));
    const workerData = { address, ms, answer };
    // With streams of its own, it adds no listener to those of this process.
    const thread = new Worker(ASK, {
      eval: true,
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      workerData,
    });
    thread.on("error", () => {}).unref();
    Atomics.wait(answer, 0, 0, ms + THREAD_MS);
    const [said = 0] = answer;
    if (said === 0) throw new Error(`cannot ask who uses ${path}`);
    if (said > 0) return said;
    return said === DEAD ? "dead" : said === SILENT ? "silent" : "denied";
  });
}

/** Longest path of a socket, in bytes, on every system. */
const LONGEST = 100;

/** Calls `use` with the address of the socket at `path`. It is valid during the call. */
export function atAddress<T>(path: string, use: (address: string) => T): T {
  if (process.platform === "win32") {
    const name = createHash("sha256").update(path.toLowerCase()).digest("hex");
    return use(`\\\\.\\pipe\\mote-${name}`);
  }
  if (process.platform !== "linux" || Buffer.byteLength(path) <= LONGEST) return use(path);
  const directory = openSync(dirname(path), "r");
  try {
    return use(`/proc/self/fd/${directory}/${basename(path)}`);
  } finally {
    closeSync(directory);
  }
}
