// Writes the pages that come from code: the CLI from commander, the options and the API from TSDoc.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildTools } from "../scripts/build.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const cache = join(folder, ".vitepress", "cache");
const reference = join(folder, "reference");

/** The modules that a program imports, by the names of the npm package. */
const MODULES = {
  "mote-agent": ["src/index.ts", "Agent, options, events and errors. On a board: `mote`."],
  "mote-agent/node": ["hosts/node/host.ts", "The host for Node: files, sockets and clock."],
  "mote-agent/report-on-change": [
    "extras/report-on-change/index.ts",
    "Report on change, by heartbeat or in windows.",
  ],
  "mote-agent/diagnostics": [
    "extras/diagnostics/index.ts",
    "The device log that survives a restart, and the health of a device.",
  ],
  "mote-agent/report": ["report/index.ts", "Client of the analytics report API."],
};

/** Text of a table cell. Vue would read `<` and `{{` as its own. */
const cell = (text) =>
  text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("{{", "&#123;&#123;")
    .replace(/\s*\n- /g, "<br>• ")
    .replaceAll("\n", " ");

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** The commands of a program, those of their own commands behind them. */
function allCommands(command, names = []) {
  return command.commands
    .filter((one) => !one._hidden && one.name() !== "help")
    .flatMap((one) => [[one, [...names, one.name()]], ...allCommands(one, [...names, one.name()])]);
}

/** The options of every command that uses a login: the page has them once. */
const SHARED = ["--platform", "--ca", "--json"];
const isShared = ({ options }, { long }) =>
  SHARED.includes(long) && SHARED.every((name) => options.some((one) => one.long === name));

const optionRows = (help, options) =>
  options.map((one) => [
    `\`${one.flags.replaceAll("|", "\\|")}\``,
    cell(capital(help.optionDescription(one))),
  ]);

function commandPage(command, names) {
  const help = command.createHelp();
  const parts = [`## ${names.join(" ")}`, capital(command.description())];
  const more = helpTextAfter(command);
  const text = more === "" ? [] : [`\`\`\`text\n${more}\n\`\`\``];
  // Its commands have the options.
  if (command.commands.length > 0) return [...parts, ...text].join("\n\n");
  parts.push(`\`\`\`text\n${help.commandUsage(command).replace(/^mote /, "npx mote-cli ")}\n\`\`\``);
  const args = help
    .visibleArguments(command)
    .map((one) => [`\`${one.name()}\``, cell(capital(help.argumentDescription(one)))]);
  if (args.some(([, text]) => text !== "")) parts.push(table(["argument", "meaning"], args));
  const options = help
    .visibleOptions(command)
    .filter((one) => one.long !== "--help" && !isShared(command, one));
  if (options.length > 0) parts.push(table(["option", "meaning"], optionRows(help, options)));
  return [...parts, ...text].join("\n\n");
}

/** The explanations and examples that commander prints after the options. */
function helpTextAfter(command) {
  const written = [];
  command.emit("afterHelp", { error: false, command, write: (text) => written.push(text) });
  return written.join("").trim();
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

async function writeCli() {
  await buildTools();
  const { makeProgram } = await import("../dist/tools/cli/program.js");
  const program = await makeProgram();
  const commands = allCommands(program);
  const list = commands.map(([command, names]) => [
    `[${names.join(" ")}](#${names.join("-")})`,
    cell(capital(command.description())),
  ]);
  const intro = `# CLI

\`npx mote-cli COMMAND\` runs a command in a clone. After an installation of \`mote-cli\`, the command is also called
\`mote\`. This page is generated from the program.

Durations are written as \`500ms\`, \`10s\`, \`1.5h\`, \`2d\` or \`1w\`. Times are \`2026-01-31\`, \`2026-01-31T12:00\`,
milliseconds since 1970, \`-7d\`, \`today\`, \`yesterday\` or \`now\`.`;
  const [operator] = commands
    .map(([one]) => one)
    .filter((one) => one.options.some((option) => isShared(one, option)));
  const shared = operator.options.filter((one) => isShared(operator, one));
  const pages = commands.map(([command, names]) => commandPage(command, names));
  const exits = helpTextAfter(program);
  writeFileSync(
    join(reference, "cli.md"),
    [
      intro,
      table(["command", "purpose"], list),
      "The commands `devices`, `attributes`, `telemetry`, `rpc`, `firmware` and `logs` also take these options:",
      table(["option", "meaning"], optionRows(operator.createHelp(), shared)),
      ...pages,
      "## Exit codes and more",
      `\`\`\`text\n${exits}\n\`\`\``,
    ].join("\n\n"),
  );
}

function writeApi() {
  const modules = join(cache, "modules");
  rmSync(modules, { recursive: true, force: true });
  rmSync(join(reference, "api"), { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  for (const [name, [path, purpose]] of Object.entries(MODULES)) {
    const file = `${name.replace("/", "-")}.ts`;
    writeFileSync(
      join(modules, file),
      `/**\n * ${purpose}\n * @module ${name}\n */\nexport * from "../../../../${path.replace(".ts", ".js")}";\n`,
    );
  }
  const typedoc = join(folder, "node_modules", "typedoc", "bin", "typedoc");
  const { status } = spawnSync(process.execPath, [typedoc], { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error("TypeDoc failed; its messages are above");
}

const textOf = (comment) => (comment?.summary ?? []).map(({ text }) => text).join("");

function typeOf(type) {
  if (type === undefined) return "";
  if (type.type === "union")
    return type.types
      .map(typeOf)
      .filter((one) => one !== "undefined")
      .join(" or ");
  if (type.type === "literal") return JSON.stringify(type.value);
  if (type.type === "reflection") return "function";
  if (type.type === "array") return `${typeOf(type.elementType)}[]`;
  return type.name ?? typeOf(type.target);
}

/** All interfaces of the API, by name. */
function interfacesOf(reflection, found = new Map()) {
  for (const child of reflection.children ?? []) {
    if (child.kind === 256) found.set(child.name, child);
    interfacesOf(child, found);
  }
  return found;
}

const GROUPS = [
  ["AgentOptions", "Agent", ""],
  ["ProvisioningOptions", "Provisioning", "provisioning."],
  ["TelemetryOptions", "Telemetry", "telemetry."],
  ["AttributeOptions", "Attributes", "attributes."],
  ["RpcOptions", "RPC", "rpc."],
  ["FirmwareOptions", "Firmware", "firmware."],
  ["CycleOptions", "Sleep cycle", "cycle."],
];

function writeOptions() {
  const interfaces = interfacesOf(JSON.parse(readFileSync(join(cache, "api.json"), "utf8")));
  const groups = GROUPS.map(([name, title, prefix]) => {
    const found = interfaces.get(name);
    if (found === undefined) throw new Error(`no interface ${name} is exported`);
    const rows = found.children.map((one) => {
      const own = one.comment ?? one.signatures?.[0]?.comment;
      return [`\`${prefix}${one.name}\``, cell(typeOf(one.type)), cell(textOf(own))];
    });
    return `## ${title}\n\n${table(["option", "type", "meaning"], rows)}`;
  });
  const config = readFileSync(join(folder, "../hosts/esp32/config.ts"), "utf8");
  const [, board = ""] = /\/\*\*\n([\s\S]*?)\*\//.exec(config) ?? [];
  const example = board
    .split("\n")
    .filter((line) => line.startsWith(" *     "))
    .map((line) => line.slice(7))
    .join("\n");
  const intro = `# Options and configuration

The options of \`new Agent(host, options)\`. On a board they stand in the manifest's \`config\`, beside the board's own.
Wrong options are reported all at once, by name. This page is generated from the source.`;
  const onBoard = `## On a board\n\nThe \`config\` of a project's manifest:\n\n\`\`\`text\n${example}\n\`\`\``;
  writeFileSync(join(reference, "options.md"), `${[intro, ...groups, onBoard].join("\n\n")}\n`);
}

if (!existsSync(join(folder, "node_modules", "vitepress")))
  throw new Error("the documentation's packages are not installed; run: npm run setup:docs");
await writeCli();
writeApi();
writeOptions();
