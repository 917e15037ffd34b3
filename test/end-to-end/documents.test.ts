// The documents as files: every relative link of theirs leads to a file, or to a page that `npm run
// docs` generates.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import test from "ava";
import type { Command } from "commander";
import { makeProgram } from "../../tools/cli/program.js";
import { IDF_TAG } from "../../tools/moddable/esp32/idf.js";
import { SDK_VERSION } from "../../tools/moddable/sdk.js";

const MOTE = "npx mote-cli ";
const GENERATED = /^docs\/(?:reference\/(?:cli|options)\.md|reference\/api\/)/;

const documents = (): string[] => {
  const pages = readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => join("docs", name))
    .filter((name) => !GENERATED.test(name));
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...pages];
};

test("every relative link of the documents leads to a file", (t) => {
  const all = documents();
  t.true(all.length > 20, `${all.length} documents`);
  for (const file of all) {
    const text = readFileSync(file, "utf8").replace(/```[\s\S]*?```/g, "");
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?:|#)/.test(link)) continue;
      const path = normalize(join(dirname(file), link.split("#")[0] ?? ""));
      t.true(GENERATED.test(path) || existsSync(path), `${file}: ${link}`);
    }
  }
});

/** Of a heading, as GitHub and VitePress write them. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

test("every link to a heading of a document finds it", (t) => {
  const withoutCode = (file: string) => readFileSync(file, "utf8").replace(/```[\s\S]*?```/g, "");
  for (const file of documents()) {
    for (const [, path = "", anchor = ""] of withoutCode(file).matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g)) {
      const page = path === "" ? file : normalize(join(dirname(file), path));
      if (GENERATED.test(page)) continue;
      const headings = [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => anchorOf(text));
      // VitePress puts a low line before a digit.
      t.true(headings.includes(anchor.replace(/^_(?=\d)/, "")), `${file}: ${path}#${anchor}`);
    }
  }
});

/**
 * The lines of the pages' shell blocks, each once, comments left out and continued lines joined.
 */
const commands = (): string[] => [
  ...new Set(
    documents()
      .flatMap((file) => [...readFileSync(file, "utf8").matchAll(/```sh\n([\s\S]*?)```/g)])
      .flatMap(([, block = ""]) => block.replaceAll("\\\n", "").trim().split("\n"))
      .map((line) => line.replace(/\s+#.*$/, "").trim()),
  ),
];

/** Commands that read their words and do nothing. */
function readOnly(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  for (const one of command.commands) readOnly(one);
  return command;
}

test("mote takes every command of the documents, with its options", async (t) => {
  const lines = commands().filter((line) => line.startsWith(MOTE));
  t.true(lines.length > 40, `${lines.length} commands`);
  for (const line of lines) {
    const [command = ""] = line
      .replace("LINK", "6d6f7465-0000-4000-8000-000000000001")
      .slice(MOTE.length)
      .split(/ [|>] /);
    const words = command.match(/'[^']*'|\S+/g) ?? [];
    const program = readOnly(await makeProgram());
    const parse = program.parseAsync(
      words.map((word) => word.replace(/^'|'$/g, "")),
      { from: "user" },
    );
    await t.notThrowsAsync(parse, line);
  }
});

test("workflows pin every action to a commit, and build with the versions that the tools require", (t) => {
  const workflows = readdirSync(".github/workflows").map((name) =>
    readFileSync(join(".github/workflows", name), "utf8"),
  );
  const uses = workflows.flatMap((text) =>
    [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action ?? ""),
  );
  t.true(uses.length >= 4);
  for (const action of uses) t.regex(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const boards = readFileSync(".github/workflows/boards.yml", "utf8");
  t.true(boards.includes(`SDK_VERSION: ${SDK_VERSION}\n`));
  t.true(boards.includes(`container: espressif/idf:${IDF_TAG}\n`));
});
