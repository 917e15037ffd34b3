// Programs for the simulator, by the SDK's mcconfig.

import { basename, join } from "node:path";
import { makeBuildFolder } from "./build-folder.js";
import { refusePrivateKeys } from "./private-keys.js";
import { run } from "./program.js";
import { environmentOf, type Sdk } from "./sdk.js";

/** Builds the project in `folder` and returns the program's path. Throws SdkError. */
export async function buildProgram(sdk: Sdk, folder: string, out: string): Promise<string> {
  makeBuildFolder(out);
  const name = basename(folder);
  const env = environmentOf(sdk, folder);
  await run(sdk.mcconfig, ["-d", "-p", "lin", "-o", out], folder, env);
  refusePrivateKeys(join(out, "tmp", "lin", "mc", "debug", name, "makefile"));
  // Without a target it would end every simulator of this machine, and open windows.
  await run(sdk.mcconfig, ["-d", "-m", "-p", "lin", "-t", "build", "-o", out], folder, env);
  return join(out, "bin", "lin", "mc", "debug", name, "mc.so");
}
