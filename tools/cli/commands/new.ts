import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { PROJECT } from "../../moddable/sdk.js";
import { UsageError } from "../usage.js";

/** `mote new`: a project for a board. */
export function newCommand(program: Command): void {
  program
    .command("new")
    .description("write a project for a board into a new folder")
    .argument("<folder>", "its name becomes the firmware's title")
    .action((folder: string) => {
      for (const name of newProject(folder)) process.stdout.write(`${join(folder, name)}\n`);
      process.stdout.write(
        `\nNow fill in secrets.json and the base URL in manifest.json, then:\n  ${build(folder)}\n`,
      );
    });
}

const build = (folder: string): string => `npx mote-cli esp32 ${folder} --target esp32/nodemcu`;

/** Writes the files and returns their names. Throws UsageError for a folder that is not empty. */
export function newProject(folder: string): string[] {
  const path = resolve(folder);
  if (existsSync(path) && !statSync(path).isDirectory()) throw new UsageError(`${folder} is no folder`);
  if (existsSync(path) && readdirSync(path).length > 0) throw new UsageError(`${folder} is not empty`);
  const files = filesOf(path);
  mkdirSync(path, { recursive: true });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(path, name), text, { flag: "wx", mode: modeOf(name) });
  return Object.keys(files);
}

const SECRETS = "secrets.json";
const modeOf = (name: string): number => (name === SECRETS ? 0o600 : 0o644);

function filesOf(path: string): Record<string, string> {
  const title = basename(path);
  const inside = relative(path, PROJECT);
  return {
    "manifest.json": json({
      // A place of its own for each machine that builds it: the environment comes first.
      build: { "MOTE ?=": inside.startsWith("..") || isAbsolute(inside) ? resolve(PROJECT) : `./${inside}` },
      include: [
        "$(MOTE)/hosts/manifest.json",
        "$(MOTE)/hosts/shared/commissioning/manifest.json",
        `./${SECRETS}`,
      ],
      modules: { "*": "./main" },
      // In the simulator the SDK's files can't be preloaded, nor what imports them.
      platforms: { esp32: { preload: ["main"] } },
      config: {
        baseUrl: "http://192.168.1.10:8080",
        firmware: { title, version: "1.0.0" },
        intervalMs: 10_000,
      },
    }),
    [SECRETS]: json({
      config: {
        wifi: { ssid: "", password: "" },
        provisioning: { key: "", secret: "" },
      },
    }),
    "main.ts": MAIN,
    ".gitignore": `${SECRETS}\nbuild/\nnode_modules/\n*.key\n*.pem\n`,
  };
}

const MAIN = `import { start } from "mote/board";
import { commission } from "mote/commission";

export default function main() {
  start((agent, host) => {
    const sample = () => {
      host.clock.timer(host.settings.intervalMs, sample);
      agent.telemetry.record({ upSeconds: Math.round(host.clock.now() / 1000) });
    };
    sample();
  }, commission);
}
`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
