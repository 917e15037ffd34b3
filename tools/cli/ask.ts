import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { FAILED, INTERRUPTED } from "../../hosts/node/exit.js";
import { ExitError } from "./exit-error.js";
import { UsageError } from "./usage.js";

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

/**
 * Goes on if `yes` was given, or the person at the terminal says so. Throws UsageError where nobody can be asked, ExitError for any other
 * answer.
 */
export async function confirm(
  question: string,
  yes: boolean | undefined,
  { stdin, stderr }: Terminal = process,
): Promise<void> {
  if (yes) return;
  if (!stdin.isTTY || !stderr.isTTY)
    throw new UsageError(`${question} There is no terminal to ask on: --yes does it without being asked`);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once("SIGINT", () => {
        stderr.write("\n");
        reject(new ExitError(INTERRUPTED, "interrupted; nothing was changed"));
      });
      lines.once("close", () => resolve(""));
      lines.question(`${question} [y/N] `, resolve);
    });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new ExitError(FAILED, "nothing was changed");
  } finally {
    lines.close();
  }
}

/** A question about what a person saw. "skip": an empty line, any other word, or the end of the input. Rejects with ExitError at Ctrl-C. */
export async function askYesNo(
  question: string,
  { stdin, stderr }: Terminal = process,
): Promise<"yes" | "no" | "skip"> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once("SIGINT", () => reject(new ExitError(INTERRUPTED, "interrupted")));
      lines.once("close", () => resolve(""));
      lines.question(`${question} [y/n, Enter: not tried] `, resolve);
    });
    if (/^y(?:es)?$/i.test(answer.trim())) return "yes";
    return /^no?$/i.test(answer.trim()) ? "no" : "skip";
  } finally {
    lines.close();
  }
}
