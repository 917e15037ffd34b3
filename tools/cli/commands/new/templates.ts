// The files of a new project: examples/templates, and files with the project's name and Mote's
// path.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { BOARDS, type Board } from "../../../boards.js";
import { PROJECT } from "../../../project.js";
import type { Origin } from "./origin.js";

/** The first is the default. */
export const TEMPLATES = [
  "sensor",
  "minimal",
  "battery",
  "ds18b20",
  "relay",
  "button",
  "battery-voltage",
] as const;
export type Template = (typeof TEMPLATES)[number];
/** The template of a program on Node, which needs no board. */
export const NODE = "node";

export const SECRETS = "secrets.json";
/** Of the SDK, that an editor sees: the last that the registry has. */
const TYPINGS = "5.6.0";
const TYPESCRIPT = "7.0.2";
const ESBUILD = "0.28.2";
const NODE_TYPES = "20.19.43";

const WITH_CLIMATE = { climate: "climate.ts", hardware: "hardware/esp32.ts" };
/** Modules of each template's own, beside main. */
const OWN: Readonly<Record<Template, Readonly<Record<string, string>>>> = {
  sensor: WITH_CLIMATE,
  minimal: {},
  battery: WITH_CLIMATE,
  ds18b20: { thermometer: "thermometer.ts" },
  relay: { relay: "hardware/esp32.ts" },
  button: { "button-pin": "hardware/esp32.ts" },
  "battery-voltage": { battery: "hardware/esp32.ts" },
};
/** Beside `mote` itself: what an application may import. */
const MODULES: Readonly<Record<string, string>> = {
  mote: "mote",
  "mote/board": "mote-esp32",
  "mote/commission": "mote-commission",
  "mote/diagnostics": "mote-diagnostics",
  "mote/report-on-change": "mote-report-on-change",
  "mote/simulated": "mote-simulated",
};

/** File contents by name. Without `board`: with the pins of all boards, by target. */
export function filesOf(
  path: string,
  template: Template | typeof NODE,
  origin: Origin,
  board?: Board,
): Record<string, string> {
  const title = basename(path);
  const place = join(PROJECT, "examples", "templates");
  const own = textsBelow(join(place, template));
  if (template === NODE) return nodeFiles(own, title, origin);
  const shared = OWN[template] === WITH_CLIMATE ? textsBelow(join(place, "shared")) : {};
  const named = (text: string): string =>
    text.replaceAll("{{NAME}}", title).replaceAll(` ${DEFAULT_TARGET}`, board ? ` ${targetOf(board)}` : "$&");
  return {
    ...Object.fromEntries(Object.entries({ ...own, ...shared }).map(([name, text]) => [name, named(text)])),
    ...(template !== "minimal" && { "hardware/pins.json": json(pinsFor(board)) }),
    "manifest.json": json(manifest(JSON.parse(own["manifest.json"] ?? ""), title, origin)),
    [SECRETS]: json({
      config: {
        wifi: { ssid: "", password: "" },
        provisioning: { key: "", secret: "" },
      },
    }),
    "package.json": json(description(title, origin)),
    "tsconfig.json": json(typescript(origin, OWN[template])),
    ".gitignore": `${SECRETS}\nbuild/\nnode_modules/\nsimulated.json\n*.key\n*.pem\n`,
  };
}

function nodeFiles(own: Record<string, string>, title: string, origin: Origin): Record<string, string> {
  const { scripts, devDependencies, ...rest } = description(title, origin);
  const { start, types } = scripts;
  const { "@moddable/typings": _, ...dependencies } = devDependencies;
  const types20 = { "@types/node": NODE_TYPES, ...dependencies };
  const named = Object.entries(own).map(([name, text]) => [name, text.replaceAll("{{NAME}}", title)]);
  return {
    ...Object.fromEntries(named),
    "package.json": json({ ...rest, scripts: { start, types }, devDependencies: types20 }),
    "tsconfig.json": json(typescript(origin, {}, ["node"])),
    ".gitignore": "build/\nnode_modules/\nsimulated.json\n",
  };
}

/** All files below a folder, by their paths from it. */
const textsBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, "utf8")]),
  );

const DEFAULT_TARGET = "--target esp32/nodemcu";

/** What `mote esp32` is told to build for the board. */
export const targetOf = (board: Board | undefined): string =>
  board === undefined ? DEFAULT_TARGET : `--board ${board.name}`;

/** Pins as a manifest of the SDK chooses them, by target. */
function pinsFor(board: Board | undefined): object {
  const config = ({ pins }: Board): object => ({ config: { pins } });
  if (board !== undefined) return { platforms: { esp32: config(board), "...": {} } };
  const platforms: Record<string, object> = { esp32: config(BOARDS[0] as Board) };
  for (const one of BOARDS) for (const target of [one.target, ...one.also]) platforms[target] ??= config(one);
  return { platforms: { ...platforms, "...": {} } };
}

function manifest(
  { config, ...rest }: { config: { firmware?: object } },
  title: string,
  { place }: Origin,
): object {
  const firmware = config.firmware && { firmware: { ...config.firmware, title } };
  // The environment comes first: each machine that builds it may have Mote elsewhere.
  return { build: { "MOTE ?=": place }, ...rest, config: { ...config, ...firmware } };
}

/** A name that npm takes. */
const packageName = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "") || "device";

const description = (title: string, { spec }: Origin) => ({
  name: packageName(title),
  version: "1.0.0",
  private: true,
  type: "module",
  scripts: {
    start: "mote-cli run .",
    simulator: "mote-cli simulator .",
    esp32: "mote-cli esp32 .",
    types: "tsc --noEmit",
  },
  allowScripts: { esbuild: true },
  devDependencies: {
    "@moddable/typings": TYPINGS,
    esbuild: ESBUILD,
    "mote-cli": spec,
    typescript: TYPESCRIPT,
  },
});

function typescript(
  { place }: Origin,
  files: Readonly<Record<string, string>>,
  types: readonly string[] = [],
): object {
  const modules = Object.entries(MODULES).map(([name, file]) => [name, [`${place}/dist/xs/${file}.d.ts`]]);
  const own = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, [`./${file}`]]));
  return {
    compilerOptions: {
      target: "es2022",
      lib: ["es2022"],
      module: "preserve",
      types,
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      paths: { ...own, ...Object.fromEntries(modules) },
    },
    include: ["**/*.ts", "node_modules/@moddable/typings/**/*.d.ts"],
    exclude: ["build", "node_modules/mote-cli", "node_modules/typescript"],
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
