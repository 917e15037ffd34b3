#!/usr/bin/env node
// `mote`: its arguments in, its exit code out.
import { CommanderError } from "commander";
import { FAILED, IN_USE, STOPPED, USAGE } from "../../hosts/node/exit.js";
import { codeOf } from "../../hosts/node/files.js";
import { LockedError } from "../../hosts/node/lease.js";
import { ExitError } from "./exit-error.js";
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
    process.stderr.write(`error: ${error instanceof Error ? error.message : "unknown"}\n`);
    if (error instanceof ExitError) return error.code;
    if (error instanceof LockedError) return IN_USE;
    return error instanceof UsageError ? USAGE : FAILED;
  }
}

/** A reader that went away (`mote run | head`) is no reason to fall over; a full disk is one to say that something is missing. */
function unwritten(error: Error): void {
  if (codeOf(error) === "EPIPE" || process.exitCode === FAILED) return;
  process.exitCode = FAILED;
  process.stderr.write(`error: the standard output can't be written (${codeOf(error)})\n`);
}

const code = await main();
if (code !== undefined) process.exitCode = process.exitCode || code;
