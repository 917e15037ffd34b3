import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { codeOf } from "../../../../hosts/node/files.js";
import { BOARD_NAMES, type Board, boardOf } from "../../../boards.js";
import { outJson, plain } from "../../output/table.js";
import { UsageError } from "../../usage.js";
import { originOf } from "./origin.js";
import { filesOf, SECRETS, TEMPLATES, type Template, targetOf } from "./templates.js";

interface NewFlags {
  template: Template;
  board?: string;
  json?: boolean;
}

const HELP = `
Templates:
  sensor   temperature and humidity over I2C, an RPC that switches a pin, a rate
           that the platform sets; without a sensor it says so and does the rest
  minimal  the least that is a device: a point every ten seconds
  battery  as sensor, asleep between its readings; sends what changed
  lean     as sensor, in the smallest image: no updates, sleep, commissioning

With --board the project has this board's pins in hardware/pins.json, and is built for its chip and flash size.
Without it, it has the pins of every known board, and you choose with mote esp32 --board.`;

/** `mote new`: a project for a board. */
export function newCommand(program: Command): void {
  program
    .command("new")
    .description("write a project for a board into a new folder")
    .argument("<folder>", "its name becomes the firmware's title")
    .addOption(new Option("--template <name>", "what it begins with").choices(TEMPLATES).default("sensor"))
    .addOption(
      new Option("--board <name>", "the board: its pins, target and flash size").choices(BOARD_NAMES),
    )
    .option("--json", "as JSON: where it is, its files, what to do next")
    .addHelpText("after", HELP)
    .action((folder: string, { template, board: name, json }: NewFlags) => {
      const board = name === undefined ? undefined : boardOf(name);
      const files = newProject(folder, template, board);
      const next = nextSteps(folder, template, board);
      if (json) return outJson({ folder: resolve(folder), template, files, next });
      for (const name of files) process.stdout.write(`${plain(join(folder, name))}\n`);
      process.stdout.write(`\nNext:\n${next.map((step) => `  ${plain(step)}\n`).join("")}`);
    });
}

/** The simulator needs nothing filled in; a board that can't ask its owner needs all. */
const nextSteps = (folder: string, template: Template, board?: Board): string[] => [
  `cd ${folder} && npm install`,
  "npm run simulator",
  ...(template === "lean" ? ["$EDITOR secrets.json manifest.json"] : []),
  `npm run esp32 -- ${targetOf(board)}`,
];

/** Writes the files and returns their names. Throws UsageError for a folder that is not empty, or that nothing can be built in. */
export function newProject(folder: string, template: Template = "sensor", board?: Board): string[] {
  const path = resolve(folder);
  checkPlace(folder, path);
  const files = filesOf(path, template, originOf(path), board);
  makeFolder(path);
  for (const [name, text] of Object.entries(files)) {
    makeFolder(dirname(join(path, name)));
    writeFileSync(join(path, name), text, { flag: "wx", mode: name === SECRETS ? 0o600 : 0o644 });
  }
  return Object.keys(files);
}

/** One after the other: below /proc, Node's own way through all of them finds no end. Throws UsageError. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    throw new UsageError(`${path} can't be made (${codeOf(error)})`);
  }
}

/** What the SDK's makefiles read as something else than part of a path. */
const NOT_FOR_MAKE = /[\s#$%:;=&|<>()[\]{}*?!'"`\\]/;
const LONGEST = 32;

function checkPlace(folder: string, path: string): void {
  const found = NOT_FOR_MAKE.exec(path)?.[0];
  if (found !== undefined)
    throw new UsageError(
      `the SDK can't build in ${path}: its makefiles take no ${/\s/.test(found) ? "space" : found} in a path`,
    );
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "" || name.length > LONGEST || name.startsWith("-"))
    throw new UsageError(`${folder}: its name is the firmware's, of 1 to ${LONGEST} characters`);
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) throw new UsageError(`${folder} is no folder`);
  if (readdirSync(path).length > 0) throw new UsageError(`${folder} is not empty`);
}
