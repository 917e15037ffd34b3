// Both packages as they would be published, in an empty project: what is in them, and that all of
// it works there.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, posix, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import test from "ava";
import { TEMPLATES } from "../../tools/cli/commands/new/templates.js";
import { scratch } from "../tools/scratch.js";

const run = promisify(execFile);
const ENTRIES = ["", "/node", "/report", "/diagnostics", "/report-on-change"];
const PATIENCE_MS = 300_000;

let project: string;
let installed: string | undefined;
const packed: Record<string, string[]> = {};
const fileOf = (name: string): string =>
  readdirSync(project).find((file) => file.startsWith(`${name}-`)) ?? name;

/** The output of npm; undefined if it has no registry to take the dependencies from. */
async function install(files: readonly string[]): Promise<string | undefined> {
  const args = ["install", "--loglevel", "http", "--no-audit", "--no-fund", ...files];
  try {
    const { stdout, stderr } = await run("npm", args, { cwd: project, timeout: PATIENCE_MS });
    return stdout + stderr;
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/.test(stderr)) return undefined;
    throw error;
  }
}

test.before(async (t) => {
  t.timeout(2 * PATIENCE_MS);
  project = scratch();
  const { stdout } = await run(process.execPath, ["scripts/pack.mjs", project], { timeout: PATIENCE_MS });
  const files = stdout.trim().split("\n");
  for (const file of files) {
    const name = /^(mote-\w+)-\d/.exec(basename(file))?.[1] ?? file;
    packed[name] = execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trim().split("\n");
  }
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "empty", version: "1.0.0", private: true, type: "module" }),
  );
  installed = await install(files);
});

test("packages have the README's pictures, and neither tests nor source maps", (t) => {
  t.deepEqual(Object.keys(packed).sort(), ["mote-agent", "mote-cli"]);
  for (const [name, files] of Object.entries(packed)) {
    t.deepEqual(
      files.filter((file) => /\.map$|\.test\.|\/test\/|tsbuildinfo/.test(file)),
      [],
      name,
    );
    const expected = [
      "README.md",
      "LICENSE",
      ...readdirSync(".").filter((one) => /^manifest.*\.json$/.test(one)),
    ];
    t.true(expected.length > 2);
    for (const one of expected) t.true(files.includes(`package/${one}`), `${name}: ${one}`);
  }
  const pictures = Array.from(
    readFileSync("README.md", "utf8").matchAll(/!\[[^\]]*\]\(([^)]+)\)/g),
    ([, path]) => path,
  );
  t.true(pictures.length > 0);
  for (const path of pictures) t.true(packed["mote-agent"]?.includes(`package/${path}`), path);
});

test("pages in a package link to files of the package only", (t) => {
  for (const [name, files] of Object.entries(packed)) {
    // The README of a template belongs to the project that is made from it.
    const pages = files.filter((file) => file.endsWith(".md") && !file.includes("/templates/"));
    t.true(pages.length > 20, name);
    const missing: string[] = [];
    for (const page of pages) {
      const args = ["-xzOf", join(project, fileOf(name)), page];
      const text = execFileSync("tar", args, { encoding: "utf8" }).replace(/```[\s\S]*?```/g, "");
      for (const [, link = ""] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        const path = posix.normalize(posix.join(posix.dirname(page), link)).replace(/\/$/, "");
        const isThere = files.some((file) => file === path || file.startsWith(`${path}/`));
        if (!/^https?:/.test(link) && !isThere) missing.push(`${page}: ${link}`);
      }
    }
    t.deepEqual(missing, [], name);
  }
});

test("the declarations of the agent are read by TypeScript 5.6, which has no Uint8Array<…>", (t) => {
  const args = ["-xzOf", join(project, fileOf("mote-agent")), "--wildcards", "*.d.ts"];
  t.notRegex(execFileSync("tar", args, { encoding: "utf8" }), /Uint8Array<|ArrayBuffer>/);
});

test("installs without a warning, and asks no registry for our names", (t) => {
  if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
  t.notRegex(installed, /EBADENGINE|install-scripts|deprecated/);
  t.deepEqual(installed.match(/http fetch .*mote-.*/g), null);
  for (const name of ["mote-agent", "mote-cli"]) {
    const described = JSON.parse(readFileSync(join(project, "node_modules", name, "package.json"), "utf8"));
    t.truthy(described.description, name);
    t.is(described.scripts, undefined, name);
  }
});

test("both packages take less than 45 MB", (t) => {
  if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
  const entries = readdirSync(join(project, "node_modules"), { recursive: true, withFileTypes: true });
  const blocks = entries.map((entry) => lstatSync(join(entry.parentPath, entry.name)).blocks);
  const megabytes = (blocks.reduce((sum, count) => sum + count, 0) * 512) / 1e6;
  t.log(`${megabytes.toFixed(1)} MB in ${entries.length} files and folders`);
  t.true(megabytes < 45, `${megabytes} MB`);
});

/** Licences that allow to bundle and to redistribute a package with its notice. */
const ALLOWED = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "(MIT AND Zlib)"];

test("the bill of materials names every package, with a licence to redistribute", (t) => {
  const text = (path: string) =>
    execFileSync("tar", ["-xzOf", join(project, fileOf("mote-cli")), `package/${path}`], {
      encoding: "utf8",
    });
  const { bomFormat, components, metadata } = JSON.parse(text("sbom.cdx.json"));
  t.deepEqual([bomFormat, metadata.component.name], ["CycloneDX", "mote-cli"]);
  interface Component {
    name: string;
    licenses?: { license?: { id?: string }; expression?: string }[];
  }
  const licences: [string, string][] = (components as Component[])
    .filter(({ name }) => name !== "mote-cli" && name !== "tools")
    .map(({ name, licenses = [] }) => [name, licenses[0]?.license?.id ?? licenses[0]?.expression ?? "none"]);
  t.deepEqual(
    licences.filter(([, licence]) => !ALLOWED.includes(licence)),
    [],
  );
  const notices = text("dist/packages/licenses.txt") + text("dist/tools/platform/console/licenses.txt");
  const bundled = Array.from(notices.matchAll(/^(\S+) \d[\w.-]* \(([^)]+)\)$/gm), ([, name = ""]) => name);
  t.true(bundled.includes("fastify") && bundled.includes("uplot"));
  const known = new Set(licences.map(([name]) => name));
  t.deepEqual(
    bundled.filter((name) => !known.has(name)),
    [],
  );
});

test("no dependency of the command has a known vulnerability", async (t) => {
  const { stdout } = await run(
    "npm",
    ["audit", "--workspace", "tools", "--audit-level", "moderate", "--json"],
    {
      timeout: PATIENCE_MS,
    },
  ).catch((error: { stdout: string }) => error);
  const { metadata, vulnerabilities, message } = JSON.parse(stdout);
  if (metadata === undefined) t.log(`skipped: the registry has no audit: ${message}`);
  else t.deepEqual(vulnerabilities, {});
  t.pass();
});

test("every entry point is imported as ESM and as CommonJS, with strict types", async (t) => {
  if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
  t.timeout(PATIENCE_MS);
  const esm = ENTRIES.map(
    (entry, n) =>
      `import * as m${n} from "mote-agent${entry}";\nif (Object.keys(m${n}).length === 0) throw new Error();`,
  );
  const commonJs = ENTRIES.map(
    (entry) => `if (Object.keys(require("mote-agent${entry}")).length === 0) throw new Error();`,
  );
  const typed = `import { Agent, type AgentOptions, type Host } from "mote-agent";
import { createHost } from "mote-agent/node";
import { Reports } from "mote-agent/report";
import { DeviceLog, Diagnostics } from "mote-agent/diagnostics";
import { ReportOnChange } from "mote-agent/report-on-change";
const host: Host = createHost({ stateDir: "state" });
const options: AgentOptions = { baseUrl: "http://127.0.0.1:1", token: "t" };
export const agent: Agent = new Agent(host, options);
export const others = [Reports, new Diagnostics(agent, host), new DeviceLog(host), ReportOnChange];
`;
  const write = (name: string, text: string) => writeFileSync(join(project, name), text);
  write("esm.mjs", esm.join("\n"));
  write("common.cjs", commonJs.join("\n"));
  write("typed.ts", typed);
  write(
    "typed.cts",
    'import { Agent } from "mote-agent";\nimport { createHost } from "mote-agent/node";\nexport const both = [Agent, createHost];\n',
  );
  const here = { cwd: project, timeout: PATIENCE_MS };
  for (const file of ["esm.mjs", "common.cjs"])
    t.is((await run(process.execPath, [file], here)).stderr, "", file);
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noEmit"];
  const modules = ["--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom", "--types", ""];
  const tsc = resolve("node_modules/.bin/tsc");
  await t.notThrowsAsync(run(tsc, [...strict, ...modules, "typed.ts", "typed.cts"], here));
});

test("the command works by both its names: help, a platform that keeps its state", async (t) => {
  if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
  t.timeout(PATIENCE_MS);
  const here = { cwd: project, timeout: PATIENCE_MS };
  for (const name of ["mote-cli", "mote"]) {
    const { stdout } = await run("npx", ["--no-install", name, "--version"], here);
    t.regex(stdout, /^\d+\.\d+\.\d+\n$/);
  }
  const cli = join(project, "node_modules", ".bin", "mote-cli");
  const platform = spawn(cli, ["platform", "--port", "0", "--json", "--state", "platform"], {
    cwd: project,
  });
  t.teardown(() => platform.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: platform.stdout }), "line")) as [string];
  const { url, state } = JSON.parse(line) as { url: string; state: string };
  t.is(state, "platform");
  t.is((await fetch(`${url}/`)).status, 200, "the console's page");
  t.is((await fetch(`${url}/console.js`)).status, 200);
  platform.kill("SIGTERM");
  await once(platform, "close");
  t.true(existsSync(join(project, "platform", "platform.ndjson")));
});

test("only mote-cli has mote run and its systemd unit, and it starts an image", async (t) => {
  const has = (name: string, part: string) => packed[name]?.some((file) => file.includes(part));
  t.true(has("mote-cli", "package/systemd/mote@.service"));
  t.false(has("mote-agent", "tools/run") || has("mote-agent", "hosts/node/run"));
  if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
  t.timeout(PATIENCE_MS);
  const cli = join(project, "node_modules", ".bin", "mote-cli");
  const args = ["run", "--url", "http://127.0.0.1:1", "--token", "token", "--state", "device", "--json"];
  const device = spawn(cli, args, { cwd: project });
  t.teardown(() => device.kill("SIGKILL"));
  for await (const line of createInterface({ input: device.stdout })) {
    const { event, title } = JSON.parse(line) as { event: string; title?: string };
    if (event === "started") t.is(title, "mote-minimal");
    if (event === "started") device.kill("SIGTERM");
  }
  if (device.exitCode === null) await once(device, "exit");
  t.is(device.exitCode, 0);
});

for (const template of TEMPLATES)
  test.serial(`${template}: a new project needs only its own folder and npm`, async (t) => {
    if (installed === undefined) return void t.log("skipped: no registry to take the dependencies from");
    t.timeout(PATIENCE_MS);
    const here = { cwd: project, timeout: PATIENCE_MS };
    await run("npx", ["--no-install", "mote-cli", "new", template, "--template", template], here);
    const folder = join(project, template);
    const own = { cwd: folder, timeout: PATIENCE_MS };
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], own);
    const { build } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    t.true(existsSync(join(folder, build["MOTE ?="], "hosts", "manifest.json")));
    await t.notThrowsAsync(run("npm", ["run", "-s", "types"], own));
    if (!process.env.MODDABLE) return void t.log("not built: $MODDABLE is not set");
    if (template === "sensor") {
      // Also by the SDK's own tool, which knows nothing of the command.
      const out = join(folder, "build", "by-hand");
      mkdirSync(out, { recursive: true });
      const mcconfig = join(process.env.MODDABLE, "build", "bin", "lin", "release", "mcconfig");
      const env = {
        ...process.env,
        PATH: [dirname(mcconfig), join(folder, "node_modules", ".bin"), process.env.PATH].join(delimiter),
      };
      await run(mcconfig, ["-d", "-m", "-p", "lin", "-t", "build", "-o", out], { ...own, env });
      t.true(existsSync(join(out, "bin", "lin", "mc", "debug", template, "mc.so")));
    }
    const { stdout } = await run("npm", ["run", "-s", "simulator", "--", "--headless", "--for", "15s"], own);
    t.regex(stdout, /provisioned as [\w-]+\n[\s\S]*delivered \d+ points?/);
  });
