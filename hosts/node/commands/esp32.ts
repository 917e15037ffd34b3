import { join, resolve } from "node:path";
import type { Command } from "commander";
import { checkBuild } from "../../sdk/check.js";
import { type BuildOptions, buildScripts, flash } from "../../sdk/esp32.js";
import { findSdk, PROJECT, type Sdk } from "../../sdk/sdk.js";
import { weighOurs } from "../../sdk/weigh.js";

interface Esp32Flags {
  target: string;
  check?: boolean;
  debug?: boolean;
  url?: string;
  ssid?: string;
  password?: string;
  provisionKey?: string;
  provisionSecret?: string;
  token?: string;
}

/** `mote esp32`: builds a project for a board and flashes it. */
export function esp32Command(program: Command): void {
  program
    .command("esp32")
    .description("build for an ESP32 board and flash it; needs the Moddable SDK, and ESP-IDF but for --check")
    .argument("[folder]", "a project that `mote new` made (default: the sample application)")
    .option(
      "--target <name>",
      "the board, as the SDK names it: esp32, esp32/nodemcu, esp32/esp32c3, ...",
      "esp32",
    )
    .option("--check", "verify all that needs no ESP-IDF, and print sizes; flash nothing")
    .option("--debug", "with the debugger's eyes and what is logged")
    .option("--url <url>", "the platform's base URL, in place of the project's")
    .option("--ssid <name>", "the Wi-Fi, in place of the project's")
    .option("--password <text>", "of the Wi-Fi")
    .option("--provision-key <key>", "in place of the project's")
    .option("--provision-secret <secret>", "in place of the project's")
    .option("--token <token>", "an access token, in place of provisioning")
    .action(async (folder: string | undefined, flags: Esp32Flags) => {
      process.exitCode = await esp32(folder, flags);
    });
}

async function esp32(folder: string | undefined, flags: Esp32Flags): Promise<number> {
  const { target, debug = false } = flags;
  const build: BuildOptions = {
    sdk: findSdk(),
    folder: folder ?? join(PROJECT, "hosts", "app"),
    target,
    debug,
    config: configOf(flags),
    out: join(folder === undefined ? PROJECT : resolve(folder), "build", target.replace("/", "-")),
  };
  if (!flags.check) return flash(build);
  const { wrong, lines } = checkBuild(await buildScripts(build));
  process.stdout.write(`${target}\n${[...lines, ...weights(build.sdk)].join("\n")}\n`);
  for (const line of wrong) process.stderr.write(`wrong: ${line}\n`);
  return wrong.length === 0 ? 0 : 1;
}

/** As CHANGELOG.md has them for each release. */
function weights(sdk: Sdk): string[] {
  const lines = [...weighOurs(sdk)].map(([name, { code, slots, rom }]) =>
    [name.padEnd(16), ...[code, slots, rom].map((count) => count.toLocaleString("en").padStart(9))].join(" "),
  );
  return ["of Mote alone, in ROM: bytes of code, slots of 16 bytes, bytes of all its data:", ...lines];
}

function configOf({
  url,
  ssid,
  password,
  provisionKey,
  provisionSecret,
  token,
}: Esp32Flags): Record<string, unknown> {
  return {
    ...(url !== undefined && { baseUrl: url }),
    ...(ssid !== undefined && { wifi: { ssid, ...(password !== undefined && { password }) } }),
    ...(provisionKey !== undefined && { provisioning: { key: provisionKey, secret: provisionSecret ?? "" } }),
    ...(token !== undefined && { token }),
  };
}
