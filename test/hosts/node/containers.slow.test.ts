// Two containers on one volume: processes in namespaces of process ids of their own, each with the id 1.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import ava, { type ExecutionContext } from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { QUEUE_FILE, UNFENCED } from "../../../hosts/node/files.js";
import { FileStore } from "../../../hosts/node/store.js";
import { IN_USE } from "../../../tools/exit-codes.js";
import { temporaryState } from "../../tools/run/session.js";

const CONTAINER = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const isAllowed = spawnSync("unshare", [...CONTAINER, "true"]).status === 0;
const test = (title: string, work: (t: ExecutionContext) => Promise<void>): void =>
  isAllowed
    ? ava.serial(title, work)
    : ava.serial.skip(`${title} (skipped: unshare may make no namespace of process ids here)`, work);

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Line = Record<string, unknown>;

class Container {
  readonly #child: ChildProcess;
  readonly lines: Line[] = [];
  readonly ended: Promise<unknown>;

  constructor(t: ExecutionContext, ...args: string[]) {
    this.#child = spawn("unshare", [...CONTAINER, process.execPath, ...process.execArgv, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.ended = once(this.#child, "exit").then(([code]) => code);
    if (this.#child.stdout)
      createInterface(this.#child.stdout).on("line", (line) => this.lines.push(JSON.parse(line)));
    t.teardown(() => this.#child.kill("SIGKILL"));
  }

  /** To the process with the id 1. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.#child;
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()), name);
  }

  count(key: string): number {
    return this.lines.filter((line) => key in line).length;
  }

  async until(ready: () => boolean): Promise<void> {
    for (let n = 0; n < 1200; n++) {
      if (ready()) return;
      await pause(50);
    }
    throw new Error(`not within a minute: ${JSON.stringify(this.lines.slice(-3))}`);
  }
}

test("a container that was paused and replaced writes nothing once it resumes, and ends", async (t) => {
  const seed = Number(process.env.MOTE_SEED ?? Date.now() % 100_000);
  t.log(`MOTE_SEED=${seed} replays this run`);
  const stateDir = temporaryState(t);
  const writer = (id: number) => new Container(t, program("./container-writer.js"), stateDir, String(id));
  let random = seed;
  const all = [writer(1)];
  for (let round = 1; round <= 5; round++) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    const old = all.at(-1) as Container;
    await old.until(() => old.count("stored") >= 20);
    await pause(random % 200);
    old.signal("SIGSTOP");
    const next = writer(round + 1);
    all.push(next);
    await next.until(() => next.count("stored") >= 20);
    const before = old.count("stored") + old.count("last");
    old.signal("SIGCONT");
    t.is(await old.ended, IN_USE);
    await pause(100);
    // One that was stored before the pause may be reported after it.
    const after = old.count("stored") + old.count("last");
    t.true(after <= before + 1, `container ${round} stored ${after - before} after its pause`);
    t.true(old.lines.some(({ line }) => /was taken over by another process/.test(String(line))));
  }
  const last = all.at(-1) as Container;
  last.signal("SIGKILL");
  await last.ended;
  const began = performance.now();
  const again = writer(7);
  all.push(again);
  await again.until(() => again.count("stored") >= 20);
  t.log(`after a kill, the next container writes within ${Math.round(performance.now() - began)} ms`);
  again.signal("SIGKILL");
  await again.ended;

  const blocks = new FileBlocks(join(stateDir, QUEUE_FILE), 128 * 4096, () => {}, UNFENCED);
  const stored = all.flatMap(({ lines }) => lines.flatMap((line) => ("stored" in line ? [line.stored] : [])));
  const lost = (stored as number[][]).filter(([id, n, at = 0]) => {
    const found = new Uint32Array(4);
    blocks.read(at, new Uint8Array(found.buffer));
    return found[0] !== id || found[1] !== n;
  });
  blocks.close();
  t.log(`${stored.length} records were stored by 7 containers, ${lost.length} are lost`);
  t.deepEqual(lost, []);
  const lasts = all.flatMap(({ lines }) => lines.flatMap((line) => ("last" in line ? [line.last] : [])));
  const [id = 0, n = 0] = new Uint32Array(
    new FileStore(join(stateDir, "store"), UNFENCED).get("last")?.slice().buffer ?? [],
  );
  const [lastId, lastN] = lasts.at(-1) as [number, number];
  t.true(id === lastId && n >= lastN, `${id} ${n} is not ${lastId} ${lastN}`);
});
