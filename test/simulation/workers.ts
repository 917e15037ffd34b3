// Runs shared out among processes. Which process simulates a run changes nothing: the lowest seed that fails is the one reported.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./many.js";

const CHUNK = 10;
const WORKER = fileURLToPath(new URL("./worker.js", import.meta.url));

export interface Share {
  /** The first run's seed, and how many runs there are. */
  readonly seed: number;
  readonly runs: number;
  /** Processes. */
  readonly workers: number;
  /** The runs from this seed on fail on purpose. */
  readonly fail?: number | undefined;
}

/** Simulates the runs; calls `progress` with how many are done so far. */
export async function shareOut(share: Share, progress: (done: number) => void): Promise<Outcome> {
  const { seed, runs, workers, fail } = share;
  const all: Outcome = { runs: 0, applied: {} };
  let next = seed;
  let end = seed + runs;
  const work = async (worker: ChildProcess): Promise<void> => {
    while (next < end) {
      const from = next;
      next += CHUNK;
      const outcome = await hand(worker, [from, Math.min(CHUNK, end - from), fail]);
      add(all, outcome);
      // Those below it are still looked at.
      if (outcome.failed) end = Math.min(end, outcome.failed.seed);
      progress(all.runs);
    }
  };
  const hands = Array.from({ length: workers }, () => fork(WORKER));
  try {
    await Promise.all(hands.map(work));
  } finally {
    for (const worker of hands) worker.disconnect();
  }
  return all;
}

type Errand = [first: number, count: number, fail: number | undefined];

function hand(worker: ChildProcess, errand: Errand): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a process ended with ${code} in the runs from ${errand[0]} on`));
    worker.once("exit", ended);
    worker.once("message", (outcome) => {
      worker.off("exit", ended);
      resolve(outcome as Outcome);
    });
    worker.send(errand);
  });
}

function add(all: Outcome, outcome: Outcome): void {
  all.runs += outcome.runs;
  for (const [fault, times] of Object.entries(outcome.applied))
    all.applied[fault] = (all.applied[fault] ?? 0) + times;
  if (outcome.failed && !(all.failed && all.failed.seed < outcome.failed.seed)) all.failed = outcome.failed;
}
