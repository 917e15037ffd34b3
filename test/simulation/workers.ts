// Stories shared out among processes. Which of them tells a story changes nothing: the lowest seed that fails is the one told.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Told } from "./many.js";

const CHUNK = 10;
const WORKER = fileURLToPath(new URL("./worker.js", import.meta.url));

export interface Share {
  /** The first story's seed, and how many stories there are. */
  readonly seed: number;
  readonly stories: number;
  /** Processes. */
  readonly workers: number;
  /** A seed that fails on purpose. */
  readonly fail?: number | undefined;
}

/** Tells the stories; `progress` is called with how many were told so far. */
export async function shareOut(share: Share, progress: (told: number) => void): Promise<Told> {
  const { seed, stories, workers, fail } = share;
  const all: Told = { stories: 0, applied: {} };
  let next = seed;
  let end = seed + stories;
  const work = async (worker: ChildProcess): Promise<void> => {
    while (next < end) {
      const from = next;
      next += CHUNK;
      const told = await hand(worker, [from, Math.min(CHUNK, end - from), fail]);
      add(all, told);
      // Those below it are still looked at.
      if (told.failed) end = Math.min(end, told.failed.seed);
      progress(all.stories);
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

function hand(worker: ChildProcess, errand: Errand): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a process ended with ${code} in the stories from ${errand[0]} on`));
    worker.once("exit", ended);
    worker.once("message", (told) => {
      worker.off("exit", ended);
      resolve(told as Told);
    });
    worker.send(errand);
  });
}

function add(all: Told, told: Told): void {
  all.stories += told.stories;
  for (const [fault, times] of Object.entries(told.applied))
    all.applied[fault] = (all.applied[fault] ?? 0) + times;
  if (told.failed && !(all.failed && all.failed.seed < told.failed.seed)) all.failed = told.failed;
}
