import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { VERSION } from "../../../src/version.js";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { originOf } from "../../../tools/cli/commands/new/origin.js";
import { TEMPLATES } from "../../../tools/cli/commands/new/templates.js";
import { UsageError } from "../../../tools/cli/usage.js";
import { PROJECT } from "../../../tools/project.js";
import { IS_SAMPLE, SEED } from "../../sample.js";
import { mote } from "./commands.js";

const place = mkdtempSync(join(tmpdir(), "mote-new-"));
test.after.always(() => rmSync(place, { recursive: true }));
const text = (folder: string, name: string): string => readFileSync(join(place, folder, name), "utf8");

const FILES = [
  ".gitignore",
  "README.md",
  "main.ts",
  "manifest.json",
  "package.json",
  "secrets.json",
  "tsconfig.json",
];
const SENSOR = [
  "climate.ts",
  "hardware/esp32.ts",
  "hardware/manifest.json",
  "hardware/pins.json",
  "hardware/sht3x.d.ts",
  "hardware/simulator.ts",
];

for (const template of TEMPLATES)
  test(`${template}: all its files are there, it keeps the secrets out of git, and names no any`, (t) => {
    const names = newProject(join(place, template), template);
    t.deepEqual(names.toSorted(), [...FILES, ...(template === "minimal" ? [] : SENSOR)].toSorted());
    for (const name of names) {
      t.notRegex(text(template, name), /\{\{/, name);
      if (name.endsWith(".ts")) t.notRegex(text(template, name), /\bany\b(?! )/, name);
    }
    t.true(text(template, ".gitignore").split("\n").includes("secrets.json"));
    t.is(statSync(join(place, template, "secrets.json")).mode & 0o077, 0);
    t.notRegex(text(template, "manifest.json"), /secret":|password|ssid/);
    t.true(text(template, "README.md").split("\n").length <= 50, "one screen");
  });

test("the least of them is a main of a dozen lines", (t) => {
  t.true(text("minimal", "main.ts").trimEnd().split("\n").length <= 12);
});

// A sample has one of them: the compiler takes a second each time.
const inAnEditor = IS_SAMPLE ? TEMPLATES.slice(SEED % TEMPLATES.length).slice(0, 1) : TEMPLATES;
for (const template of inAnEditor)
  test(`${template}: green in an editor, with nothing but its files and what npm installs`, async (t) => {
    const folder = join(place, `${template}-in-an-editor`);
    newProject(folder, template);
    const modules = join(folder, "node_modules", "@moddable");
    mkdirSync(modules, { recursive: true });
    symlinkSync(join(PROJECT, "node_modules", "@moddable", "typings"), join(modules, "typings"));
    await t.notThrowsAsync(tsc(folder));
    const main = text(`${template}-in-an-editor`, "main.ts");
    writeFileSync(
      join(folder, "main.ts"),
      main.replace("host.log(", "host.lgo(").replace(".record(", ".recrod("),
    );
    const error = await t.throwsAsync<Error & { stdout: string }>(tsc(folder));
    t.regex(error?.stdout ?? "", /main\.ts\(\d+,\d+\): error TS2551/);
  });

const tsc = (folder: string) =>
  promisify(execFile)(
    process.execPath,
    [join(PROJECT, "node_modules", "typescript", "bin", "tsc"), "--noEmit"],
    {
      cwd: folder,
    },
  );

test("its manifest includes the project's and names what the firmware is", (t) => {
  newProject(join(place, "lamp"), "minimal");
  const { build, include, platforms, config } = JSON.parse(text("lamp", "manifest.json"));
  t.is(join(build["MOTE ?="], "."), PROJECT);
  t.deepEqual(include, [
    "$(MOTE)/hosts/manifest.json",
    "$(MOTE)/extras/commissioning/manifest.json",
    "./secrets.json",
  ]);
  t.deepEqual(platforms.esp32.preload, ["main"]);
  t.deepEqual(config.firmware, { title: "lamp", version: "1.0.0" });
});

test("of a clone a project takes what is there, of a package what was installed, each by npm", (t) => {
  const { devDependencies, name } = JSON.parse(text("lamp", "package.json"));
  t.is(name, "lamp");
  const spec: string = devDependencies["mote-cli"];
  t.is(join(place, "lamp", spec.slice("file:".length)), join(PROJECT, "tools"));
  const root = join(place, "elsewhere", "node_modules", "mote-cli");
  mkdirSync(root, { recursive: true });
  const origin = () => originOf(join(place, "elsewhere", "pump"), root);
  t.deepEqual(origin(), { spec: VERSION, place: "./node_modules/mote-cli" });
  const lock = (resolved: string) =>
    writeFileSync(
      join(root, "..", ".package-lock.json"),
      JSON.stringify({ packages: { "node_modules/mote-cli": { resolved } } }),
    );
  lock("file:../mote-cli-0.1.0.tgz");
  t.is(origin().spec, VERSION, "the file is gone");
  writeFileSync(join(place, "mote-cli-0.1.0.tgz"), "");
  t.is(origin().spec, "file:../../mote-cli-0.1.0.tgz");
  lock("https://packages.invalid/mote-cli-0.1.0.tgz");
  t.is(origin().spec, VERSION);
});

test("once the secrets are filled in the configuration is good; until then a board asks its owner", (t) => {
  newProject(join(place, "fan"));
  const config = {
    ...JSON.parse(text("fan", "manifest.json")).config,
    ...JSON.parse(text("fan", "secrets.json")).config,
  };
  t.true(isIncomplete(config));
  const baseUrl = "http://192.168.1.10:8080";
  t.true(isIncomplete({ ...config, baseUrl, wifi: { ssid: "home" } }));
  const filled = { ...config, baseUrl, wifi: { ssid: "home" }, provisioning: { key: "k", secret: "s" } };
  t.false(isIncomplete(filled));
  t.false(Array.isArray(readConfig(filled)));
});

test("a folder that the SDK's makefiles can't build in, and a name that is none, are refused before anything is written", (t) => {
  const before = readdirSync(place);
  for (const [name, why] of [
    ["green house", /take no space/],
    ["50%", /take no %/],
    ["a#b", /take no #/],
    ["a$b", /take no \$/],
    ["n".repeat(33), /1 to 32 characters/],
    ["-x", /1 to 32 characters/],
  ] as const)
    t.throws(() => newProject(join(place, name)), { instanceOf: UsageError, message: why }, name);
  t.deepEqual(readdirSync(place), before);
  writeFileSync(join(place, "a-file"), "");
  for (const name of [join(place, "a-file", "sub"), "/proc/greenhouse"])
    t.throws(() => newProject(name), { instanceOf: UsageError, message: /can't be made \(E\w+\)/ }, name);
});

test("--board gives a project the pins, target and flash size of this board alone", async (t) => {
  const folder = join(place, "garden");
  const { code, out, err } = await mote(["new", folder, "--board", "xiao-esp32s3"]);
  t.is(code, 0, err);
  t.regex(out, /npm run esp32 -- --board xiao-esp32s3\n/);
  const { platforms } = JSON.parse(text("garden", "hardware/pins.json"));
  t.deepEqual(platforms, { esp32: { config: { pins: { data: 5, clock: 6, switch: 21 } } }, "...": {} });
  t.regex(text("garden", "README.md"), /npm run esp32 -- --board xiao-esp32s3 /);
  t.regex((await mote(["new", `${folder}-2`, "--board", "uno"])).err, /xiao-esp32s3/);
});

test("without --board a project has the pins of every known board, by target", (t) => {
  newProject(join(place, "all-boards"));
  const { platforms } = JSON.parse(text("all-boards", "hardware/pins.json"));
  t.deepEqual(platforms.esp32.config.pins, { data: 21, clock: 22, switch: 2 });
  t.deepEqual(platforms["esp32/lolin_c3mini"].config.pins, { data: 8, clock: 10, switch: 7 });
  t.deepEqual(platforms["esp32/esp32s3_usb"].config.pins, { data: 4, clock: 5, switch: 6 });
});

test("as JSON it says where it is, of what it was made, its files, and what comes next", async (t) => {
  const folder = join(place, "said");
  const { code, out, err } = await mote(["new", folder, "--template", "minimal", "--json"]);
  t.is(code, 0, err);
  const next = [
    `cd ${folder} && npm install`,
    "npm run simulator",
    "npm run esp32 -- --target esp32/nodemcu",
  ];
  const files = ["README.md", "main.ts", "manifest.json", "secrets.json", "package.json", "tsconfig.json"];
  t.deepEqual(JSON.parse(out), { folder, template: "minimal", files: [...files, ".gitignore"], next });
  t.is((await mote(["new", folder, "--json"])).code, 2);
});

test("a folder that is not empty, or is a file, is refused and left as it is", (t) => {
  mkdirSync(join(place, "full"));
  writeFileSync(join(place, "full", "mine.txt"), "mine");
  t.throws(() => newProject(join(place, "full")), { message: /is not empty/ });
  t.deepEqual(readdirSync(join(place, "full")), ["mine.txt"]);
  t.throws(() => newProject(join(place, "full", "mine.txt")), { message: /is no folder/ });
});

test("an empty folder is as good as none", (t) => {
  mkdirSync(join(place, "empty"));
  t.is(newProject(join(place, "empty"), "minimal").length, 7);
});
