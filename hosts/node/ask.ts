import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** Asks on the terminal without showing what is typed; undefined where there is no terminal, or at its end. */
export async function askSecret(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  // Readline echoes what is typed to its output: this one swallows it.
  const mute = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: mute, terminal: true });
  stderr.write(question);
  try {
    return await new Promise((resolve) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => resolve(undefined));
      lines.once("close", () => resolve(undefined));
    });
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
