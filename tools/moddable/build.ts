// Programs for the simulator, by the SDK's mcconfig.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { refusePrivateKeys } from "./private-keys.js";
import { environmentOf, nextStep, type Sdk, SdkError } from "./sdk.js";

/** Of what a failed build said. */
const SAID = 20;

/**
 * Builds the project in `folder` (with a manifest.json) into `out`, and returns the program. Throws
 * SdkError with what the build said.
 */
export async function buildProgram(sdk: Sdk, folder: string, out: string): Promise<string> {
  mkdirSync(out, { recursive: true });
  const name = basename(folder);
  await mcconfig(sdk, folder, ["-d", "-p", "lin", "-o", out]);
  refusePrivateKeys(join(out, "tmp", "lin", "mc", "debug", name, "makefile"));
  // Without a target it would end every simulator of this machine, and open windows.
  await mcconfig(sdk, folder, ["-d", "-m", "-p", "lin", "-t", "build", "-o", out]);
  return join(out, "bin", "lin", "mc", "debug", name, "mc.so");
}

async function mcconfig(sdk: Sdk, cwd: string, words: string[]): Promise<void> {
  const build = spawn(sdk.mcconfig, words, {
    cwd,
    env: environmentOf(sdk, cwd),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const hear = (text: string): void => void lines.push(...text.split("\n"));
  build.stdout.setEncoding("utf8").on("data", hear);
  build.stderr.setEncoding("utf8").on("data", hear);
  const code = await new Promise<number | null>((resolve, reject) => {
    build.on("error", reject);
    build.on("close", resolve);
  });
  if (code === 0) return;
  const said = lines.filter((line) => line !== "" && !line.startsWith("# ") && !line.includes("warning"));
  throw new SdkError(`the build failed:\n${said.slice(-SAID).join("\n")}${nextStep(lines.join("\n"))}`);
}
