// The Moddable SDK on this machine.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import { PROJECT } from "../project.js";

/** The version that hosts/moddable was written for. */
export const SDK_VERSION = "8.2.3";

export interface Sdk {
  /** `$MODDABLE`. */
  readonly path: string;
  readonly mcconfig: string;
  readonly mcsim: string;
  /** The environment of the SDK's tools: they start each other. */
  readonly env: NodeJS.ProcessEnv;
}

/** What can't be done, and what to do about it. The message is for people, of one line or more. */
export class SdkError extends Error {
  override name = "SdkError";
}

/** The SDK in `$MODDABLE`, for builds. Throws SdkError if it is missing or not built for Linux. */
export function findSdk(env: NodeJS.ProcessEnv = process.env): Sdk {
  const path = env.MODDABLE;
  if (!path) throw new SdkError(`the Moddable SDK is missing: $MODDABLE is not set.\n${INSTALL}`);
  const tools = join(path, "build", "bin", "lin", "release");
  const [mcconfig, mcsim] = [join(tools, "mcconfig"), join(tools, "mcsim")];
  refuseUnbuilt(path, mcconfig);
  const paths = [tools, binOf(PROJECT), env.PATH ?? ""];
  // A project is built with the manifests of the command that builds it, installed in its folder or
  // not.
  const { MOTE = PROJECT } = env;
  return { path, mcconfig, mcsim, env: { ...env, MODDABLE: path, MOTE, PATH: paths.join(delimiter) } };
}

/** The SDK, to run programs in its simulator. Throws SdkError as `findSdk` does. */
export function findSimulator(env: NodeJS.ProcessEnv = process.env): Sdk {
  const sdk = findSdk(env);
  refuseUnbuilt(sdk.path, sdk.mcsim);
  return sdk;
}

function refuseUnbuilt(path: string, tool: string): void {
  if (existsSync(tool)) return;
  throw new SdkError(`$MODDABLE is ${path}, but ${basename(tool)} was not built there.\n${INSTALL}`);
}

/** The version that stands at `path`, as git knows it; undefined where it does not. */
export function sdkVersion(path: string): string | undefined {
  const { status, stdout } = spawnSync("git", ["-C", path, "describe", "--tags"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** What to say of an SDK that is another than it should be; undefined: nothing. */
export function sdkDoubt({ path }: Sdk): string | undefined {
  const version = sdkVersion(path);
  return version === undefined || version === SDK_VERSION
    ? undefined
    : `warning: the SDK at ${path} is ${version}, and this was made for ${SDK_VERSION}: if the build fails, begin there`;
}

const binOf = (folder: string): string => join(folder, "node_modules", ".bin");

/** The SDK's environment for a build of this folder, whose own `tsc` comes first. */
export function environmentOf({ env }: Sdk, folder: string): NodeJS.ProcessEnv {
  return { ...env, PATH: [binOf(resolve(folder)), env.PATH ?? ""].join(delimiter) };
}

/** The next step after a failed build, if its output names one. */
export const nextStep = (output: string): string =>
  /\btsc: (?:command )?not found/.test(output)
    ? "\nThe project needs the TypeScript compiler: npm install --save-dev typescript"
    : "";

const INSTALL = `The SDK's guide installs it (https://www.moddable.com/documentation/Moddable%20SDK%20-%20Getting%20Started, Linux):
  sudo apt-get install gcc git wget make libncurses-dev flex bison gperf libgtk-3-dev
  git clone --branch ${SDK_VERSION} https://github.com/Moddable-OpenSource/moddable ~/Projects/moddable
  export MODDABLE=~/Projects/moddable PATH="$PATH:$HOME/Projects/moddable/build/bin/lin/release"
  cd $MODDABLE/build/makefiles/lin && make
Then try again.`;
