import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { FAILED, INTERRUPTED } from "../exit-codes.js";
import { ExitError } from "./exit-error.js";
import { plain } from "./output/table.js";
import { UsageError } from "./usage.js";

type Terminal = Pick<NodeJS.Process, "stdin" | "stderr">;

/** Reads a secret without echo. Undefined without a terminal. Rejects with ExitError on Ctrl-C. */
export async function askSecret(
  question: string,
  { stdin, stderr }: Terminal = process,
): Promise<string | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  // Readline echoes input to its output, so the output discards it.
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

/** Asks for confirmation unless `yes`. Throws UsageError without a terminal, ExitError for a no. */
export async function confirm(
  question: string,
  yes: boolean | undefined,
  terminal: Terminal = process,
): Promise<void> {
  if (yes) return;
  if (!terminal.stdin.isTTY || !terminal.stderr.isTTY)
    throw new UsageError(`${question} Cannot confirm: stdin is not a terminal (use --yes)`);
  const answer = await ask(`${plain(question)} [y/N] `, "interrupted; nothing changed", terminal);
  if (!YES.test(answer)) throw new ExitError(FAILED, "nothing changed");
}

const YES = /^y(?:es)?$/i;

async function ask(question: string, interrupted: string, { stdin, stderr }: Terminal): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once("SIGINT", () => {
        stderr.write("\n");
        reject(new ExitError(INTERRUPTED, interrupted));
      });
      lines.once("close", () => resolve(""));
      lines.question(question, resolve);
    });
    return answer.trim();
  } finally {
    lines.close();
  }
}

/** Reads a password from standard input: its first line. Undefined if it is empty. */
export async function readSecret(input: NodeJS.ReadableStream = process.stdin): Promise<string | undefined> {
  let text = "";
  for await (const part of input) text += part;
  return text.split(/\r?\n/, 1)[0] || undefined;
}
