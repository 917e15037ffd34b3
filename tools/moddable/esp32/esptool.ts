// Flashing by Espressif's own tool, as ESP-IDF installs it.
import { spawn } from "node:child_process";
import { onPath } from "../program.js";
import type { Sdk } from "../sdk.js";
import type { Image } from "./esp32.js";

const BAUD = 921_600;

/** Writes all parts of the image; what the device stored stays. Resolves with esptool's status; its output goes to the terminal. */
export function flashBoard(sdk: Sdk, image: Image, port: string | undefined): Promise<number> {
  const [program, ...first] = esptool(sdk.env);
  const words = [...first, "--chip", image.chip, ...(port === undefined ? [] : ["--port", port])];
  const child = spawn(program, [...words, "--baud", `${BAUD}`, "write-flash", "@flash_args"], {
    cwd: image.folder,
    env: sdk.env,
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

const esptool = (env: NodeJS.ProcessEnv): [string, ...string[]] =>
  onPath("esptool", env) ? ["esptool"] : ["python", "-m", "esptool"];
