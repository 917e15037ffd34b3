// ESP-IDF as it is installed, and what stands for it where only scripts are compiled.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onPath, run } from "../program.js";
import { type Sdk, SdkError } from "../sdk.js";

/** The version that the SDK was tested with. Its makefile asks for it in every build. */
export const IDF_TAG = "v6.0";

const IDF_GUIDE = `The SDK's guide installs it (https://www.moddable.com/documentation/devices/esp32, Linux):
  sudo apt-get install git wget flex bison gperf python-is-python3 python3-pip python3-venv cmake ninja-build ccache libffi-dev libssl-dev dfu-util
  git clone -b ${IDF_TAG} --recursive https://github.com/espressif/esp-idf ~/.local/share/esp-idf
  cd ~/.local/share/esp-idf && ./install.sh all
  export IDF_PATH=~/.local/share/esp-idf && . $IDF_PATH/export.sh
Then try again. --check needs none of it.`;

/** Throws SdkError if ESP-IDF is missing, or its tools are not on the path. */
export function findIdf(env: NodeJS.ProcessEnv): void {
  const { IDF_PATH } = env;
  if (!IDF_PATH || !existsSync(join(IDF_PATH, "tools", "idf.py")))
    throw new SdkError(
      `ESP-IDF is missing: $IDF_PATH is ${IDF_PATH ? "not a folder of ESP-IDF" : "not set"}.\n${IDF_GUIDE}`,
    );
  if (!onPath("idf.py", env))
    throw new SdkError("idf.py is not on the path. Set the path for this shell: . $IDF_PATH/export.sh");
}

/** A repository with the one tag that the makefile looks for. */
export async function idfForCheck(sdk: Sdk, out: string): Promise<string> {
  const directory = join(out, "no-idf");
  if (existsSync(join(directory, ".git"))) return directory;
  mkdirSync(directory, { recursive: true });
  const git = (...words: string[]) => run("git", words, directory, sdk.env);
  await git("init", "-q");
  await git(
    "-c",
    "user.name=mote",
    "-c",
    "user.email=mote@localhost",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "none",
  );
  await git("tag", IDF_TAG);
  return directory;
}
