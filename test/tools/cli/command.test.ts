import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import test from "ava";
import type { Command } from "commander";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { VERSION } from "../../../src/version.js";
import { askSecret, confirm } from "../../../tools/cli/ask.js";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { originOf } from "../../../tools/cli/commands/new/origin.js";
import { TEMPLATES, type Template } from "../../../tools/cli/commands/new/templates.js";
import { isLoopback } from "../../../tools/cli/commands/platform/network.js";
import { asCalled, calledAs } from "../../../tools/cli/invocation.js";
import { makeProgram } from "../../../tools/cli/program.js";
import { parseTime } from "../../../tools/cli/times.js";
import { duration, UsageError } from "../../../tools/cli/usage.js";
import { INTERRUPTED } from "../../../tools/exit-codes.js";
import { PROJECT } from "../../../tools/project.js";
import { scratch } from "../scratch.js";
import { mote } from "./commands.js";

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

test("a hint names the command as it was called, for every command", async (t) => {
  const names = (await makeProgram()).commands.map((command) => command.name());
  for (const name of names)
    t.is(asCalled(`see: mote ${name} x`, "npx mote-cli"), `see: npx mote-cli ${name} x`);
  t.is(asCalled("mote-cli run, a/mote run, mote is", "x"), "mote-cli run, a/mote run, mote is");
  t.is(calledAs("/usr/bin/mote", {}), "mote");
  t.is(calledAs("/p/node_modules/.bin/mote-cli", {}), "npx mote-cli");
  t.is(calledAs(join(process.cwd(), "dist/tools/cli/cli.js"), {}), "node dist/tools/cli/cli.js");
  t.is(calledAs(join(process.cwd(), "dist/tools/cli/cli.js"), { npm_command: "run-script" }), "npx mote-cli");
});

test("the help after an unknown command names the command as it was called", async (t) => {
  const { err, code } = await mote(["nope"], { npm_command: "exec" });
  t.regex(err, /unknown command 'nope'.*\nDetails: npx mote-cli help\n/s);
  t.is(code, 2);
});

test("every option with a duration takes it in one way, and its default has a unit", async (t) => {
  const options = all(await makeProgram()).flatMap(({ options }) => [...options]);
  const timed = options.filter(({ flags }) => /<(?:duration|time)>/.test(flags));
  t.true(timed.length > 10);
  for (const option of timed.filter(({ flags }) => flags.includes("<duration>"))) {
    const parsed = [option.parseArg?.("1.5h", undefined as never)].flat();
    t.deepEqual(parsed, [5_400_000], option.flags);
    t.throws(
      () => option.parseArg?.("10", undefined as never),
      { message: /duration such as/ },
      option.flags,
    );
    if (option.defaultValue !== undefined)
      t.is(duration(option.defaultValueDescription ?? ""), option.defaultValue as number, option.flags);
  }
});

test("no message has a control character, whoever wrote it, nor a password of a URL", async (t) => {
  const { err, code } = await mote(["flash", "\u001b[2Jx"]);
  t.deepEqual([err.includes("\u001b"), code], [false, 1]);
  const login = await mote(["login", "--url", "https://me:s3cret@127.0.0.1:9", "--username", "me"]);
  t.deepEqual([login.err.includes("s3cret"), login.code], [false, 2]);
  t.deepEqual([isLoopback("127.0.0.1"), isLoopback("127.example.com")], [true, false]);
});

/** `modes`: whether the terminal is asked to leave the echo to the program. */
function terminal(isTTY: boolean, typed = "") {
  const modes: boolean[] = [];
  const setRawMode = (mode: boolean): void => void modes.push(mode);
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode });
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  stdin.write(typed);
  return { stdin, stderr, modes, process: { stdin, stderr } as unknown as NodeJS.Process };
}

test("takes only y or yes for an answer, and only --yes without a terminal", async (t) => {
  for (const typed of ["y\r", "yes\r", "Y\r"])
    await t.notThrowsAsync(confirm("Delete it?", false, terminal(true, typed).process));
  for (const typed of ["\r", "n\r", "yy\r", "\u0004"])
    await t.throwsAsync(confirm("Delete it?", false, terminal(true, typed).process), {
      message: "nothing changed",
    });
  const interrupted = await t.throwsAsync(confirm("Delete it?", false, terminal(true, "\u0003").process));
  t.is((interrupted as { code?: unknown }).code, 130);
  await t.throwsAsync(confirm("Delete it?", undefined, terminal(false, "y\r").process), { message: /--yes/ });
  await t.notThrowsAsync(confirm("Delete it?", true, terminal(false, "").process));
});

test("reads a password without echo, and restores the echo", async (t) => {
  const { stdin, stderr, modes, process } = terminal(true);
  const asked = askSecret("Password: ", process);
  stdin.write("s3cret x");
  stdin.write("\u007fü\r");
  t.is(await asked, "s3cret ü");
  t.is(stderr.read(), "Password: \n");
  t.deepEqual(modes, [true, false]);
});

test("a password prompt handles Ctrl-C, Ctrl-D and end of input, and restores the echo", async (t) => {
  const { stdin, modes, process } = terminal(true);
  const asked = askSecret("Password: ", process);
  stdin.write("s3c\u0003");
  const error = await t.throwsAsync(asked, { message: "interrupted" });
  t.is((error as { code?: unknown }).code, INTERRUPTED);
  t.deepEqual(modes, [true, false]);
  for (const end of ["\u0004", undefined]) {
    const other = terminal(true);
    const given = askSecret("Password: ", other.process);
    if (end === undefined) other.stdin.end();
    else other.stdin.write(end);
    t.is(await given, undefined);
  }
  t.is(await askSecret("Password: ", terminal(false).process), undefined);
});

const NOW = new Date(2026, 0, 31, 12, 30).getTime();

test("a time is a date, a moment, milliseconds, or a while ago", (t) => {
  const day = (month: number, date: number, hour = 0) => new Date(2026, month, date, hour).getTime();
  for (const [text, ms] of [
    ["now", NOW],
    ["today", day(0, 31)],
    ["yesterday", day(0, 30)],
    ["-7d", NOW - 7 * 86_400_000],
    ["-90s", NOW - 90_000],
    ["2026-01-30", day(0, 30)],
    ["2026-01-30T06:00", day(0, 30, 6)],
    ["2026-01-30T06:00:01.5Z", Date.UTC(2026, 0, 30, 6, 0, 1, 500)],
    ["2026-01-30T06:00+02:00", Date.UTC(2026, 0, 30, 4)],
    ["1760000000000", 1_760_000_000_000],
  ] as const)
    t.is(parseTime(text, NOW), ms, text);
});

test("refuses an invalid time", (t) => {
  for (const text of ["", "soon", "1760000000", "-7", "-7y", "2026-02-30", "2026-01-30T25:00"])
    t.throws(() => parseTime(text, NOW), { message: /Expected a date/, any: true }, text);
});

const place = scratch();
const text = (folder: string, name: string): string => readFileSync(join(place, folder, name), "utf8");

const CODE = ["main.ts", "manifest.json", "package.json", "secrets.json", "tsconfig.json"];
const FILES = [".gitignore", "README.md", ...CODE];
const PIN = ["esp32.ts", "manifest.json", "pins.json", "simulator.ts"].map((name) => `hardware/${name}`);
const SENSOR = ["climate.ts", ...PIN, "hardware/sht3x.d.ts"];
const PARTS: Record<Template, string[]> = {
  sensor: SENSOR,
  minimal: [],
  battery: SENSOR,
  ds18b20: ["ds18x20.d.ts", "hardware/pins.json", "thermometer.ts"],
  relay: PIN,
  button: PIN,
  "battery-voltage": PIN,
};

for (const template of TEMPLATES)
  test(`${template}: all its files are there, it keeps the secrets out of git, and names no any`, (t) => {
    const names = newProject(join(place, template), template);
    t.deepEqual(names.toSorted(), [...FILES, ...PARTS[template]].toSorted());
    for (const name of names) {
      t.notRegex(text(template, name), /\{\{/, name);
      t.notRegex(text(template, name), /[":]\/(?!\/)/, `${name} has an absolute path`);
      if (name.endsWith(".ts")) t.notRegex(text(template, name), /\bany\b(?! )/, name);
    }
    t.true(text(template, ".gitignore").split("\n").includes("secrets.json"));
    t.is(statSync(join(place, template, "secrets.json")).mode & 0o077, 0);
    t.notRegex(text(template, "manifest.json"), /secret":|password|ssid/);
  });

test("node: one file beside those of npm, without a board's settings", (t) => {
  const names = newProject(join(place, "node"), "node");
  const expected = [".gitignore", "README.md", "main.ts", "package.json", "tsconfig.json"];
  t.deepEqual(names.toSorted(), expected.toSorted());
  for (const name of names) t.notRegex(text("node", name), /\{\{/, name);
});

test("a new project depends on the clone or the installed package", (t) => {
  newProject(join(place, "lamp"), "minimal");
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

test("a configuration is complete once secrets are filled in; otherwise the board asks", (t) => {
  newProject(join(place, "fan"));
  const config = {
    ...JSON.parse(text("fan", "manifest.json")).config,
    ...JSON.parse(text("fan", "secrets.json")).config,
  };
  const baseUrl = "http://192.168.1.10:8080";
  const filled = { ...config, baseUrl, wifi: { ssid: "home" }, provisioning: { key: "k", secret: "s" } };
  t.false(isIncomplete(filled));
  for (const key of ["wifi", "baseUrl", "provisioning"])
    t.true(isIncomplete({ ...filled, [key]: config[key] }), key);
  t.false(Array.isArray(readConfig(filled)));
});

test("refuses an unusable folder or name before writing anything", (t) => {
  const before = readdirSync(place);
  for (const [name, why] of [
    ["green house", /with a space/],
    ["a$b", /with "\$"/],
    ["n".repeat(33), /1 to 32 characters/],
    ["-x", /1 to 32 characters/],
  ] as const)
    t.throws(() => newProject(join(place, name)), { instanceOf: UsageError, message: why }, name);
  t.deepEqual(readdirSync(place), before);
  writeFileSync(join(place, "a-file"), "");
  for (const name of [join(place, "a-file", "sub"), "/proc/greenhouse"])
    t.throws(() => newProject(name), { instanceOf: UsageError, message: /cannot create .* \(E\w+\)/ }, name);
});

test("--board gives a project the pins, target and flash size of the board", async (t) => {
  const folder = join(place, "garden");
  const { code, out, err } = await mote(["new", folder, "--board", "xiao-esp32s3"]);
  t.is(code, 0, err);
  t.regex(out, /npm run esp32 -- --board xiao-esp32s3\n/);
  t.regex(out, /Moddable SDK 8\.2\.3 \(\$MODDABLE\)[\s\S]*ESP-IDF v6\.0/);
  const { platforms } = JSON.parse(text("garden", "hardware/pins.json"));
  t.deepEqual(platforms, {
    esp32: { config: { pins: { data: 5, clock: 6, switch: 21, analog: 1, input: 5 } } },
    "...": {},
  });
  t.regex(text("garden", "README.md"), /npm run esp32 -- --board xiao-esp32s3 /);
  t.regex((await mote(["new", `${folder}-2`, "--board", "uno"])).err, /xiao-esp32s3/);
});

test("a folder that is not empty, or is a file, is refused and left as it is", (t) => {
  mkdirSync(join(place, "full"));
  writeFileSync(join(place, "full", "mine.txt"), "mine");
  t.throws(() => newProject(join(place, "full")), { message: /is not empty/ });
  t.deepEqual(readdirSync(join(place, "full")), ["mine.txt"]);
  t.throws(() => newProject(join(place, "full", "mine.txt")), { message: /is not a folder/ });
  mkdirSync(join(place, "empty"));
  t.is(newProject(join(place, "empty"), "minimal").length, 7, "an empty folder is as good as none");
});
