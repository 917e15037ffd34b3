// Parts of a measurement in processes of their own: nothing of one is done in the time of another.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Part {
  /** What it said last, which is at the least that it is ready. */
  readonly said: unknown;
  readonly pid: number;
  ask(question: unknown): Promise<unknown>;
  end(): Promise<void>;
}

/** Starts a file beside this one; resolves with its first message. */
export async function startPart(file: string, ...args: string[]): Promise<Part> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, args, { execArgv: ["--expose-gc"] });
  const message = (): Promise<unknown> => nextMessage(child, file);
  const part = {
    said: await message(),
    pid: child.pid ?? 0,
    async ask(question: unknown) {
      child.send(question as object);
      return message();
    },
    async end() {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
  return part;
}

function nextMessage(child: ChildProcess, file: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error(`${file} ended`));
    child.once("exit", ended);
    child.once("message", (said) => {
      child.off("exit", ended);
      resolve(said);
    });
  });
}

/** In the part: it is ready, and answers what it is asked. It ends with who started it. */
export function answerAsPart(ready: unknown, answer: (question: never) => unknown = () => null): void {
  process.once("disconnect", () => process.exit());
  process.on("message", async (question) => process.send?.((await answer(question as never)) ?? null));
  process.send?.(ready ?? null);
}
