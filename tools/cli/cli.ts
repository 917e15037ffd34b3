#!/usr/bin/env node
// Entry point of `mote`: maps errors to exit codes.
import { CommanderError } from "commander";
import { codeOf } from "../../hosts/node/files.js";
import { LockedError } from "../../hosts/node/state-lock.js";
import { FAILED, IN_USE, STOPPED, USAGE } from "../exit-codes.js";
import { ExitError } from "./exit-error.js";
import { asCalled } from "./invocation.js";
import { colored } from "./output/colors.js";
import { plainLines } from "./output/table.js";
import { runProgram } from "./program.js";
import { UsageError } from "./usage.js";

async function main(): Promise<number | undefined> {
  process.stdout.on("error", unwritten);
  process.stderr.on("error", () => {});
  try {
    await runProgram(process.argv.slice(2));
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? STOPPED : USAGE;
    process.stderr.write(
      `${colored("red", "error:", process.stderr)} ${error instanceof Error ? plainLines(asCalled(error.message)) : "unknown"}\n`,
    );
    if (error instanceof ExitError) return error.code;
    if (error instanceof LockedError) return IN_USE;
    return error instanceof UsageError ? USAGE : FAILED;
  }
}

/** Ignore a closed pipe (`mote run | head`); report any other failure, such as a full disk. */
function unwritten(error: Error): void {
  if (codeOf(error) === "EPIPE" || process.exitCode === FAILED) return;
  process.exitCode = FAILED;
  process.stderr.write(`error: cannot write to standard output (${codeOf(error)})\n`);
}

const code = await main();
if (code !== undefined) process.exitCode = process.exitCode || code;
