// Programs of others: where they are, and what they print.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { nextStep, SdkError } from "./sdk.js";

/** Whether a program of this name is on the path. */
export const onPath = (name: string, env: NodeJS.ProcessEnv): boolean =>
  (env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, name)));

/** What it printed. Throws SdkError with its last lines if it failed. */
export function run(program: string, words: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((done, failed) => {
    let log = "";
    const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (log += text));
    child.on("error", (error) => failed(new SdkError(`${program}: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0 && !FAILED.test(log)) done(log);
      else failed(new SdkError(`${basename(program)} failed:\n${lastLines(log)}${nextStep(log)}`));
    });
  });
}

/** What it printed on both outputs, and its status; nothing is shown. */
export function tryRun(
  [program = "", ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; text: string }> {
  return new Promise((done) => {
    let text = "";
    const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part) => {
        text = (text + part).slice(-LONGEST);
      });
    child.on("error", (error) => done({ code: 1, text: error.message }));
    child.on("close", (code) => done({ code: code ?? 1, text }));
  });
}

/** Of what is kept of it. */
const LONGEST = 65_536;
const FAILED = /^(?:###? ?)?[Ee]rror[:!]/m;
const NOISE = /^# |warning|: not frozen$|: no const$/;
/** Compilers and linkers say why before a long rest. */
const CAUSE = /\berror:|undefined reference/;
const MOST_CAUSES = 5;
/** Characters of a line to show. The command line of a linker has more. */
const LONGEST_LINE = 1000;

/** The first causes and the last of what a program printed, without what it always prints. */
export function lastLines(log: string): string {
  const lines = log
    .split("\n")
    .filter((line) => line !== "" && line.length <= LONGEST_LINE && !NOISE.test(line));
  const causes = lines.filter((line) => CAUSE.test(line)).slice(0, MOST_CAUSES);
  return [...causes, ...lines.slice(-20).filter((line) => !causes.includes(line))].join("\n");
}
