import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { INTERRUPTED } from "../../hosts/node/exit.js";
import { ExitError } from "./exit-error.js";

type Terminal = Pick<NodeJS.Process, "stdin" | "stderr">;

/** Asks on the terminal without showing what is typed; undefined where there is no terminal, or at its end. Rejects with ExitError at Ctrl-C. */
export async function askSecret(
  question: string,
  { stdin, stderr }: Terminal = process,
): Promise<string | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  // Readline echoes what is typed to its output: this one swallows it.
  const mute = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: mute, terminal: true });
  stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => reject(new ExitError(INTERRUPTED, "interrupted")));
      lines.once("close", () => resolve(undefined));
    });
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
