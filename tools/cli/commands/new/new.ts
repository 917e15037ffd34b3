import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { codeOf } from "../../../../hosts/node/files.js";
import { BOARD_NAMES, type Board, boardOf } from "../../../boards.js";
import { IDF_TAG } from "../../../moddable/esp32/idf.js";
import { SDK_VERSION } from "../../../moddable/sdk.js";
import { calledAs } from "../../invocation.js";
import { plain } from "../../output/table.js";
import { UsageError } from "../../usage.js";
import { originOf } from "./origin.js";
import { filesOf, NODE, SECRETS, TEMPLATES, type Template, targetOf } from "./templates.js";

interface NewFlags {
  template: Template | typeof NODE;
  board?: string;
}

const HELP = `
Templates:
  sensor   temperature and humidity over I2C, an RPC that switches a pin, and an
           interval set by the platform; also runs without a sensor
  minimal  the smallest device: one point every ten seconds
  battery  like sensor, but sleeps between readings and sends only changes

  node     for Node: a sensor, an RPC, an alarm and a stored value in one file

Recipes, each for one part (wiring: docs/guides/recipes.md):
  ds18b20          temperature on one wire
  relay            an RPC that switches a relay
  button           a point for each press
  battery-voltage  the voltage of a battery, measured between two sleeps

--board makes the project's commands build for this board's chip and flash size, and writes its pins to hardware/pins.json (all templates but minimal,
which uses no pin, and node, which has no board). Without it, the project has the pins of all known boards, and mote esp32 --board selects one.`;

/** `mote new`: creates a project for a board. */
export function newCommand(program: Command): void {
  program
    .command("new")
    .description("create a project for a board or for Node")
    .argument("<folder>", "new folder; its name becomes the firmware title")
    .addOption(
      new Option("--template <name>", "project template").choices([...TEMPLATES, NODE]).default("sensor"),
    )
    .addOption(new Option("--board <name>", "board: sets pins, target and flash size").choices(BOARD_NAMES))
    .addHelpText("after", HELP)
    .action((folder: string, { template, board: name }: NewFlags) => {
      const board = name === undefined ? undefined : boardOf(name);
      const files = newProject(folder, template, board);
      const next = nextSteps(folder, template, board);
      const needs = template === NODE ? "" : NEEDS;
      for (const name of files) process.stdout.write(`${plain(join(folder, name))}\n`);
      process.stdout.write(`\nNext:\n${next.map((step) => `  ${plain(step)}\n`).join("")}${needs}`);
    });
}

const NEEDS = `
Only the first step needs nothing else. The simulator needs the Moddable SDK ${SDK_VERSION} ($MODDABLE).
A board needs ESP-IDF ${IDF_TAG} as well ($IDF_PATH). docs/start/esp32.md installs both.
`;

const nextSteps = (folder: string, template: NewFlags["template"], board?: Board): string[] => [
  `${calledAs()} run ${folder}`,
  ...(template === NODE
    ? []
    : [`cd ${folder} && npm install`, "npm run simulator", `npm run esp32 -- ${targetOf(board)}`]),
];

/** Writes the files and returns their names. Throws UsageError for an unusable folder. */
export function newProject(
  folder: string,
  template: NewFlags["template"] = "sensor",
  board?: Board,
): string[] {
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

/** Creates parents one by one: below /proc, Node's recursive mkdir never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    throw new UsageError(`cannot create ${path} (${codeOf(error)})`);
  }
}

/** Characters that the SDK's makefiles do not accept in a path. */
const NOT_FOR_MAKE = /[\s#$%:;=&|<>()[\]{}*?!'"`\\]/;
const LONGEST = 32;

function checkPlace(folder: string, path: string): void {
  const found = NOT_FOR_MAKE.exec(path)?.[0];
  if (found !== undefined)
    throw new UsageError(
      `invalid folder ${path}: the SDK cannot build in a path with ${/\s/.test(found) ? "a space" : `"${found}"`}`,
    );
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "" || name.length > LONGEST || name.startsWith("-"))
    throw new UsageError(
      `invalid folder name "${folder}": expected 1 to ${LONGEST} characters, not starting with -`,
    );
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) throw new UsageError(`${folder} is not a folder`);
  if (readdirSync(path).length > 0) throw new UsageError(`${folder} is not empty: choose a new folder`);
}
