// The command line as a whole, looked at in this process: its helps, its options, what a shell completes.

import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
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
import { PassThrough } from "node:stream";
import { WriteStream } from "node:tty";
import { promisify } from "node:util";
import test from "ava";
import type { Command } from "commander";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { INTERRUPTED } from "../../../hosts/node/exit.js";
import { VERSION } from "../../../src/version.js";
import { askSecret, confirm } from "../../../tools/cli/ask.js";
import { pathOf } from "../../../tools/cli/command-tree.js";
import { candidates } from "../../../tools/cli/commands/completion.js";
import { outageOf } from "../../../tools/cli/commands/fleet/outage.js";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { originOf } from "../../../tools/cli/commands/new/origin.js";
import { TEMPLATES, type Template } from "../../../tools/cli/commands/new/templates.js";
import { findOption, valueFor } from "../../../tools/cli/defaults.js";
import { calledAs } from "../../../tools/cli/invocation.js";
import { colored } from "../../../tools/cli/output/colors.js";
import { csv } from "../../../tools/cli/output/csv.js";
import { bar, Progress } from "../../../tools/cli/output/progress.js";
import { reflow } from "../../../tools/cli/output/reflow.js";
import { size } from "../../../tools/cli/output/size.js";
import { clip, columnsOf, table } from "../../../tools/cli/output/table.js";
import { makeProgram } from "../../../tools/cli/program.js";
import { Steps } from "../../../tools/cli/steps.js";
import { pause } from "../../../tools/cli/stop.js";
import { parseLast, parseTime } from "../../../tools/cli/times.js";
import { duration, UsageError } from "../../../tools/cli/usage.js";
import { PROJECT } from "../../../tools/project.js";
import { IS_SAMPLE, SEED } from "../../sample.js";
import { mote } from "./commands.js";

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

/** Without commands that only an alias or another command leads to. */
function visible(command: Command): Command[] {
  return [command, ...command.createHelp().visibleCommands(command).flatMap(visible)];
}

/** As `mote help` prints it in a terminal of 80 columns. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 }).outputHelp();
  return reflow(text, 80);
}

test("every command and option is described, and each help fits 80 columns, except lines to copy", async (t) => {
  for (const command of visible(await makeProgram())) {
    t.true(command.description() !== "", pathOf(command));
    for (const { flags, description } of command.createHelp().visibleOptions(command))
      t.true(description !== "", `${pathOf(command)} ${flags}`);
    const help = helpOf(command);
    t.regex(help, /^Usage: /);
    const prose = help.split("\n").filter((line) => !/^ +(?:mote|openssl) /.test(line));
    t.deepEqual(
      prose.filter((line) => line.length > 80),
      [],
    );
  }
});

test("every option with a duration takes it in one way, and its default has a unit", async (t) => {
  const options = all(await makeProgram()).flatMap(({ options }) => [...options]);
  const timed = options.filter(({ flags }) => /<(?:duration|time)>/.test(flags));
  t.true(timed.length > 15);
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

test("every destructive command accepts --yes", async (t) => {
  const asking = all(await makeProgram())
    .filter((one) => /^(?:delete|forget|unassign)$/.test(one.name()))
    .filter((one) => pathOf(one) !== "config delete");
  t.deepEqual(asking.map(pathOf), [
    "devices delete",
    "attributes delete",
    "rpc delete",
    "firmware unassign",
    "firmware delete",
    "config forget",
  ]);
  for (const one of asking)
    t.true(
      one.options.some(({ long }) => long === "--yes"),
      pathOf(one),
    );
});

test("former names of commands remain as aliases", async (t) => {
  const named = all(await makeProgram()).filter((one) => one.aliases().length > 0);
  t.deepEqual(Object.fromEntries(named.map((one) => [pathOf(one), one.aliases()])), {
    "devices get": ["show"],
    "trust list": ["show"],
    "config list": ["show"],
    "config delete": ["unset"],
  });
});

test("text is coloured on a terminal, unless NO_COLOR is set", (t) => {
  const { hasColors } = WriteStream.prototype;
  const stream = (env: object, isTTY = true) => ({
    isTTY,
    hasColors: () => hasColors.call(WriteStream.prototype, 16, env),
  });
  const env = { TERM: "xterm-256color" };
  t.is(colored("red", "bad", stream(env)), "\u001b[31mbad\u001b[39m");
  t.is(colored("red", "bad", stream({ ...env, NO_COLOR: "1" })), "bad");
  t.is(colored("red", "bad", stream(env, false)), "bad");
});

test("commands, options and choices are completed; where a text is to be typed, nothing is", async (t) => {
  const program = await makeProgram();
  const words = (...typed: string[]): string[] =>
    candidates(program, typed).map((line) => line.split("\t")[0] ?? "");
  t.deepEqual(words("fl"), ["fleet", "flash"]);
  t.deepEqual(words("firmware", ""), ["push", "list", "unassign", "delete"]);
  t.deepEqual(words("help", "firmware", "p"), ["push"]);
  t.deepEqual(words("rpc", "greenhouse-7", ""), []);
  t.deepEqual(words("rpc", "--ti"), ["--timeout"]);
  t.deepEqual(words("rpc", "--timeout", ""), []);
  t.deepEqual(words("rpc", "l"), ["list"]);
  t.deepEqual(words("completion", ""), ["bash", "zsh", "fish"]);
  t.deepEqual(words("nothere", ""), []);
  t.false(words("").includes("complete"));
});

test("an outage of a fleet is within its run, or refused", (t) => {
  t.deepEqual(outageOf({ for: 10_000, outage: 5_000 }), { fromMs: 2_500, toMs: 7_500 });
  t.deepEqual(outageOf({ for: 120_000, outage: 30_000 }), { fromMs: 30_000, toMs: 60_000 });
  t.deepEqual(outageOf({ outage: 5_000 }), { fromMs: 30_000, toMs: 35_000 });
  t.is(outageOf({ for: 10_000 }), undefined);
  t.throws(() => outageOf({ for: 10_000, outage: 10_000 }), { message: /ends after 10s but --for is 10s/ });
  t.throws(() => outageOf({ for: 10_000, outage: 1_000, outageAfter: 9_500 }), { message: /10\.5s/ });
  t.throws(() => outageOf({ outageAfter: 1_000 }), { message: /requires --outage/ });
});

test("user defaults parse like the command line and exclude secrets and --yes", async (t) => {
  const program = await makeProgram();
  const value = (key: string, text: string): unknown => valueFor(findOption(program, key), text);
  t.is(value("rpc.timeout", "30s"), 30_000);
  t.is(value("firmware.push.timeout", "1h"), 3_600_000);
  t.is(value("devices.wide", "true"), true);
  t.is(value("rpc.no-wait", "true"), false);
  t.throws(() => value("rpc.timeout", "30"), { message: /invalid --timeout "30"/ });
  t.throws(() => value("platform.log", "x"), { message: /text, json/ });
  for (const key of ["run.token", "fleet.provision-secret", "report.jwt", "platform.admin-password"])
    t.throws(() => value(key, "x"), { message: /secret/ }, key);
  for (const key of ["devices.delete.yes", "watch.url", "fleet.devices"])
    t.throws(() => value(key, "true"), { message: /every call/ }, key);
  for (const key of ["x", "rpc", "rpc.x", "rpc.__proto__"])
    t.throws(() => value(key, "true"), { message: /unknown option/ }, key);
});

// Tables, paragraphs, questions and steps, by themselves.

const ROWS = [
  ["greenhouse-7", "default", "active", "1 s ago"],
  ["a pump with a long name 漢字👩‍🚀漢字", "Mote", undefined, "never"],
];
const HEAD = ["NAME", "PROFILE", "STATE", "LAST SEEN"];

test("a table fits the terminal, truncating the widest columns first", (t) => {
  t.is(
    table(HEAD, [ROWS[0]!], { columns: Number.POSITIVE_INFINITY }),
    "NAME          PROFILE  STATE   LAST SEEN\ngreenhouse-7  default  active  1 s ago\n",
  );
  for (const columns of [80, 40, 20]) {
    const lines = table(HEAD, ROWS, { columns }).split("\n");
    t.true(
      lines.every((line) => [...line].length <= columns),
      lines.join("\n"),
    );
    t.is(lines.length, 4);
  }
  t.regex(table(HEAD, ROWS, { columns: 40 }), /^greenho…? {2}|…/m);
  t.true(table(HEAD, ROWS, { columns: 20, wide: true }).includes("greenhouse-7  "));
});

test("a table brings no control character, neither its own nor a peer's", (t) => {
  const shown = table(HEAD, [["\u001b[31mred\u202e", "a\nb", "", ""]], { columns: 40 });
  t.notRegex(shown.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}]/u);
  t.is(shown.split("\n").length, 3);
});

test("a terminal has its columns, a pipe none, unless COLUMNS says so", (t) => {
  t.is(columnsOf({ isTTY: true, columns: 40 }, { COLUMNS: "90" }), 40);
  t.is(columnsOf({ isTTY: true }, {}), 80);
  t.is(columnsOf({}, {}), Number.POSITIVE_INFINITY);
  t.is(columnsOf({}, { COLUMNS: "40" }), 40);
  for (const COLUMNS of ["", "0", "-1", "x", "1e9"])
    t.is(columnsOf({}, { COLUMNS }), Number.POSITIVE_INFINITY);
});

test("a pause leaves no listener behind, and ends when it is asked to", async (t) => {
  const stop = new AbortController();
  for (let n = 0; n < 20; n++) await pause(1, stop.signal);
  t.is(getEventListeners(stop.signal, "abort").length, 0);
  const long = pause(60_000, stop.signal);
  stop.abort();
  await long;
  await pause(60_000, stop.signal);
  t.pass();
});

test("Ctrl-C names what was done, what is under way and what was not begun", async (t) => {
  const steps = new Steps();
  t.is(steps.summary, "interrupted; nothing changed");
  steps.plan("a", "b", ..."cdefghi");
  await steps.run("a", async () => {});
  await t.throwsAsync(steps.run("b", () => Promise.reject(new Error("no"))));
  steps.begin("c");
  steps.remark = "it goes on";
  t.is(
    steps.summary,
    "interrupted; done: a; in progress, possibly done: c; it goes on; not started: d, e, f, g, h and 1 more",
  );
  steps.end("c", "failed c");
  t.regex(steps.summary, /done: a, failed c; not started/);
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

test("a question is answered by y or yes alone, and without a terminal by --yes alone", async (t) => {
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

test("paragraphs fill the width, lists and examples stay, sizes have units", (t) => {
  t.is(
    reflow("one two\nthree\n\nList:\n  a b c d e f g\nend", 9),
    "one two\nthree\n\nList:\n  a b c d e f g\nend",
  );
  t.is(reflow("one two\nthree", 40), "one two three");
  t.deepEqual([999, 1_500, 50_000_000, 1_536_000].map(size), ["999 B", "1.5 kB", "50 MB", "1.5 MB"]);
});

test("lines to copy call this program as it was called", (t) => {
  t.is(calledAs("/usr/local/bin/mote"), "mote");
  t.is(calledAs("/home/u/project/node_modules/.bin/mote-cli"), "npx mote-cli");
  t.is(calledAs("/clone/dist/tools/cli/cli.js"), "npx mote-cli");
});

test("a text that just fits is not clipped", (t) => {
  t.is(clip("12345", 5), "12345");
  t.is(clip("123456", 5), "1234…");
  t.is(clip("anything", 1), "…");
});

test("what is typed is taken without being shown, and the terminal echoes again afterwards", async (t) => {
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
});

test("without a terminal nobody is asked", async (t) => {
  const { stderr, process } = terminal(false);
  t.is(await askSecret("Password: ", process), undefined);
  t.is(stderr.read(), null);
});

/** What a terminal of so many rows and columns shows at last, scrolled lines above it counted. */
function progressTerminal(rows: number, columns: number) {
  const screen: string[] = [""];
  let at = 0;
  let scrolled = 0;
  const next = (): void => {
    at++;
    if (at === screen.length) screen.push("");
    if (screen.length > rows) {
      screen.shift();
      at--;
      scrolled++;
    }
  };
  const write = (text: string): void => {
    for (const [piece] of text.matchAll(/\n|\p{Cc}\[\d*[AJK]|\P{Cc}+/gu)) {
      const up = /^\p{Cc}\[(\d+)A$/u.exec(piece);
      if (up) at = Math.max(0, at - Number(up[1]));
      else if (piece === "\u001b[2K") screen[at] = "";
      else if (piece === "\u001b[J") screen.splice(at, Number.POSITIVE_INFINITY, "");
      else if (piece === "\n") next();
      else
        for (let from = 0; from < piece.length; from += columns) {
          if (from > 0) next();
          screen[at] = piece.slice(from, from + columns);
        }
    }
  };
  return { isTTY: true, rows, columns, write, screen, scrolls: () => scrolled };
}

test("more lines than the terminal has are drawn in place, and the rest counted", (t) => {
  const one = progressTerminal(10, 40);
  const progress = new Progress(one);
  for (let turn = 0; turn < 5; turn++)
    progress.show(Array.from({ length: 100 }, (_, n) => `device-${n} turn ${turn}`));
  t.is(one.scrolls(), 0);
  t.deepEqual(one.screen.slice(0, 2), ["device-0 turn 4", "device-1 turn 4"]);
  t.is(one.screen.at(-2), "and 92 more");
});

test("a line that is longer than the terminal is wide is cut, wide signs as two", (t) => {
  const one = progressTerminal(10, 20);
  const progress = new Progress(one);
  for (let turn = 0; turn < 3; turn++) progress.show(["x".repeat(50), "漢".repeat(50), `turn ${turn}`]);
  t.deepEqual(one.screen, [`${"x".repeat(18)}…`, `${"漢".repeat(9)}…`, "turn 2", ""]);
  progress.show(["one"]);
  t.deepEqual(one.screen, ["one", ""], "what had more lines before leaves none behind");
});

test("the bar is empty at 0, full at 1 and stays within", (t) => {
  t.is(bar(0), "[                        ]   0 %");
  t.is(bar(0.999), "[####################### ]  99 %");
  t.is(bar(1), "[########################] 100 %");
  t.is(bar(2.5), bar(1));
  t.is(bar(-1), bar(0));
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

test("up to a day includes it; up to a moment ends there", (t) => {
  const before = (month: number, date: number) => new Date(2026, month, date).getTime() - 1;
  for (const [text, ms] of [
    ["today", before(1, 1)],
    ["yesterday", before(0, 31)],
    ["2026-01-30", before(0, 31)],
    ["2026-01-30T00:00", before(0, 30) + 1],
    ["now", NOW],
    ["-1d", NOW - 86_400_000],
    ["1760000000000", 1_760_000_000_000],
  ] as const)
    t.is(parseLast(text, NOW), ms, text);
});

test("what is no time is refused", (t) => {
  const dates = ["2026-02-30", "2026-13-01", "2026-1-1", "2026-01-30T25:00"];
  for (const text of ["", "soon", "1760000000", "-7", "-7y", "+7d", ...dates])
    t.throws(() => parseTime(text, NOW), { message: /Expected a date/, any: true }, text);
});

test("CSV quotes what needs it, and no field is a formula", (t) => {
  t.is(
    csv(
      ["a,b", 'c"d'],
      [
        ["x\ny", undefined],
        [-5, "-5"],
        ["=1+1", "+49 30"],
        ["@a", true],
        [{ a: 1 }, ""],
        ["", ""],
        ["\n=1", "＝1"],
      ],
    ),
    '"a,b","c""d"\r\n"x\ny",\r\n-5,-5\r\n"\'=1+1","\'+49 30"\r\n"\'@a",true\r\n"{""a"":1}",\r\n,\r\n"\'\n=1","\'＝1"\r\n',
  );
});

const place = mkdtempSync(join(tmpdir(), "mote-new-"));
test.after.always(() => rmSync(place, { recursive: true }));
const text = (folder: string, name: string): string => readFileSync(join(place, folder, name), "utf8");

const CODE = ["main.ts", "manifest.json", "package.json", "secrets.json", "tsconfig.json"];
const FILES = [".gitignore", "README.md", ...CODE];
const PIN = ["esp32.ts", "manifest.json", "pins.json", "simulator.ts"].map((name) => `hardware/${name}`);
const SENSOR = ["climate.ts", ...PIN, "hardware/sht3x.d.ts"];
const PARTS: Record<Template, string[]> = {
  sensor: SENSOR,
  minimal: [],
  battery: SENSOR,
  lean: SENSOR,
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
    t.true(text(template, "README.md").split("\n").length <= 50, "one screen");
    if (template === "minimal") t.true(text(template, "main.ts").trimEnd().split("\n").length <= 14);
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
      main.replace(".log(", ".lgo(").replace(".record(", ".recrod(").replace(".publish(", ".pubilsh("),
    );
    const error = await t.throwsAsync<Error & { stdout: string }>(tsc(folder));
    t.regex(error?.stdout ?? "", /main\.ts\(\d+,\d+\): error TS2551/);
  });

const TSC = join(PROJECT, "node_modules", "typescript", "bin", "tsc");
const tsc = (folder: string) => promisify(execFile)(process.execPath, [TSC, "--noEmit"], { cwd: folder });

test("its manifest includes the project's and names what the firmware is", (t) => {
  newProject(join(place, "lamp"), "minimal");
  const { build, include, platforms, config } = JSON.parse(text("lamp", "manifest.json"));
  t.regex(build["MOTE ?="], /^\.\//);
  t.is(join(place, "lamp", build["MOTE ?="], "."), PROJECT);
  t.deepEqual(include, [
    "$(MOTE)/hosts/manifest.json",
    "$(MOTE)/extras/commissioning/manifest.json",
    "./secrets.json",
  ]);
  t.deepEqual(platforms.esp32.preload, ["main"]);
  t.deepEqual(config.firmware, { title: "lamp", version: "1.0.0" });
});

test("a new project depends on the clone or the installed package", (t) => {
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
  t.true(isIncomplete(config));
  const baseUrl = "http://192.168.1.10:8080";
  t.true(isIncomplete({ ...config, baseUrl, wifi: { ssid: "home" } }));
  const filled = { ...config, baseUrl, wifi: { ssid: "home" }, provisioning: { key: "k", secret: "s" } };
  t.false(isIncomplete(filled));
  t.false(Array.isArray(readConfig(filled)));
});

test("refuses an unusable folder or name before writing anything", (t) => {
  const before = readdirSync(place);
  for (const [name, why] of [
    ["green house", /with a space/],
    ["50%", /with "%"/],
    ["a#b", /with "#"/],
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

test("--board gives a project the pins, target and flash size of this board alone", async (t) => {
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

test("without --board a project has the pins of every known board, by target", (t) => {
  newProject(join(place, "all-boards"));
  const { platforms } = JSON.parse(text("all-boards", "hardware/pins.json"));
  t.deepEqual(platforms.esp32.config.pins, { data: 21, clock: 22, switch: 2, analog: 34, input: 21 });
  t.deepEqual(platforms["esp32/lolin_c3mini"].config.pins, {
    data: 8,
    clock: 10,
    switch: 7,
    analog: 3,
    input: 10,
  });
  t.deepEqual(platforms["esp32/esp32s3_usb"].config.pins, {
    data: 4,
    clock: 5,
    switch: 6,
    analog: 7,
    input: 4,
  });
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
  t.throws(() => newProject(join(place, "full", "mine.txt")), { message: /is not a folder/ });
  mkdirSync(join(place, "empty"));
  t.is(newProject(join(place, "empty"), "minimal").length, 7, "an empty folder is as good as none");
});
