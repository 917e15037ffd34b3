// The command line as a whole, looked at in this process: its helps, its options, what a shell completes.
import { readFileSync, writeFileSync } from "node:fs";
import test from "ava";
import type { Command, Option } from "commander";
import { pathOf } from "../../../tools/cli/command-tree.js";
import { candidates } from "../../../tools/cli/commands/completion.js";
import { outageOf } from "../../../tools/cli/commands/fleet/outage.js";
import { findOption, valueFor } from "../../../tools/cli/defaults.js";
import { reflow } from "../../../tools/cli/output/reflow.js";
import { makeProgram } from "../../../tools/cli/program.js";
import { duration } from "../../../tools/cli/usage.js";
import { given } from "../../arguments.js";

const HELP = "test/tools/cli/recorded/help.txt";

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

/** As `mote help` prints it in a terminal of 80 columns. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 }).outputHelp();
  return reflow(text, 80);
}

test("the help of every command is what was recorded, and fits 80 columns but for lines to copy", async (t) => {
  const program = await makeProgram();
  const helps = all(program).map((command) => `$ mote help ${pathOf(command)}\n${helpOf(command)}`);
  const text = helps.join("\n").replaceAll(process.cwd(), ".");
  if (given("record")) writeFileSync(HELP, text);
  t.is(text, readFileSync(HELP, "utf8"));
  const prose = text
    .split("\n")
    .filter((line) => !line.startsWith("$") && !/^ +(?:mote|openssl) /.test(line));
  t.deepEqual(
    prose.filter((line) => line.length > 80),
    [],
  );
});

test("every option with a duration takes it in one way, and its default has a unit", async (t) => {
  const options = all(await makeProgram()).flatMap(({ options }) => [...options]);
  const timed = options.filter(({ flags }) => /<(?:duration|time)>/.test(flags));
  t.true(timed.length > 15);
  for (const option of timed.filter(({ flags }) => flags.includes("<duration>"))) {
    const parsed = [option.parseArg?.("1.5h", undefined as never)].flat();
    t.deepEqual(parsed, [5_400_000], option.flags);
    t.throws(() => option.parseArg?.("10", undefined as never), { message: /duration like/ }, option.flags);
    if (option.defaultValue !== undefined)
      t.is(duration(option.defaultValueDescription ?? ""), option.defaultValue as number, option.flags);
  }
  const unclear = options.filter(
    ({ description, flags }) => /(?:time|how long|interval)\b/.test(flags) && description === "",
  );
  t.deepEqual(
    unclear.map(({ flags }: Option) => flags),
    [],
  );
});

test("whoever deletes can ask for no question", async (t) => {
  const asking = all(await makeProgram()).filter((one) => /^(?:delete|forget|unassign)$/.test(one.name()));
  t.deepEqual(asking.map(pathOf), [
    "config forget",
    "devices delete",
    "attributes delete",
    "rpc delete",
    "firmware unassign",
    "firmware delete",
  ]);
  for (const one of asking)
    t.true(
      one.options.some(({ long }) => long === "--yes"),
      pathOf(one),
    );
});

test("commands, options and choices are completed; where a text is to be typed, nothing is", async (t) => {
  const program = await makeProgram();
  const words = (...typed: string[]): string[] =>
    candidates(program, typed).map((line) => line.split("\t")[0] ?? "");
  t.deepEqual(words("fl"), ["flash", "fleet"]);
  t.deepEqual(words("firmware", ""), ["push", "list", "unassign", "delete"]);
  t.deepEqual(words("help", "firmware", "p"), ["push"]);
  t.deepEqual(words("rpc", "greenhouse-7", ""), []);
  t.deepEqual(words("rpc", "--ti"), ["--timeout"]);
  t.deepEqual(words("rpc", "--timeout", ""), []);
  t.deepEqual(words("rpc", "--timeout", "1s", "st"), ["status"]);
  t.deepEqual(words("completion", ""), ["bash", "zsh", "fish"]);
  t.deepEqual(words("nothere", ""), []);
  t.false(words("").includes("complete"));
});

test("an outage of a fleet is within its run, or refused", (t) => {
  t.deepEqual(outageOf({ for: 10_000, outage: 5_000 }), { fromMs: 2_500, toMs: 7_500 });
  t.deepEqual(outageOf({ for: 120_000, outage: 30_000 }), { fromMs: 30_000, toMs: 60_000 });
  t.deepEqual(outageOf({ outage: 5_000 }), { fromMs: 30_000, toMs: 35_000 });
  t.is(outageOf({ for: 10_000 }), undefined);
  t.throws(() => outageOf({ for: 10_000, outage: 10_000 }), { message: /end after 10s, and --for is 10s/ });
  t.throws(() => outageOf({ for: 10_000, outage: 1_000, outageAfter: 9_500 }), { message: /10\.5s/ });
  t.throws(() => outageOf({ outageAfter: 1_000 }), { message: /needs --outage/ });
});

test("a default of one's own is read as the command line is, and is never a secret or a yes", async (t) => {
  const program = await makeProgram();
  const value = (key: string, text: string): unknown => valueFor(findOption(program, key), text);
  t.is(value("rpc.timeout", "30s"), 30_000);
  t.is(value("firmware.push.timeout", "1h"), 3_600_000);
  t.is(value("devices.wide", "true"), true);
  t.is(value("rpc.no-wait", "true"), false);
  t.throws(() => value("rpc.timeout", "30"), { message: /--timeout: / });
  t.throws(() => value("platform.log", "x"), { message: /text, json/ });
  for (const key of ["run.token", "fleet.provision-secret", "report.jwt", "platform.admin-password"])
    t.throws(() => value(key, "x"), { message: /secret/ }, key);
  for (const key of ["devices.delete.yes", "watch.url", "fleet.devices"])
    t.throws(() => value(key, "true"), { message: /each call/ }, key);
  for (const key of ["x", "rpc", "rpc.x", "rpc.__proto__"])
    t.throws(() => value(key, "true"), { message: /no option/ }, key);
});
