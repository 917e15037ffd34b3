// Every command of README and docs, run as it stands there: with this test's address in place of theirs, and its long runs cut short.
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import test from "ava";
import type { Command } from "commander";
import { makeProgram } from "../../tools/cli/program.js";
import { DEFAULT_VIEW } from "../../tools/platform/core/reports/table-views.js";
import { type Platform, startPlatform } from "../../tools/platform/server.js";
import { killAll, launch, mote, type Result } from "../tools/cli/commands.js";
import { operatorOf } from "../tools/operator-of.js";
import { scratch } from "../tools/scratch.js";
import { ScriptedDevice } from "../tools/scripted-device.js";

/** Commands of another machine, such as installations, stand in blocks of `bash`. */
const PAGES = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".md") && !/node_modules|^reference\/(?:api|cli|options)/.test(name),
);
const TEXTS = ["README.md", "CONTRIBUTING.md", ...PAGES.map((name) => join("docs", name))].map((file) =>
  readFileSync(file, "utf8"),
);
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;
const MOTE = "npx mote-cli ";
const NAME = "greenhouse-7";
const IS_LOGIN = /^npx mote-cli login /;

/** The lines of their shell blocks, each once, logins first, comments left out and continued lines joined. */
const COMMANDS = [
  ...new Set(
    TEXTS.flatMap((text) => [...text.matchAll(/```sh\n([\s\S]*?)```/g)])
      .flatMap(([, block = ""]) => block.replaceAll("\\\n", "").trim().split("\n"))
      .map((line) => line.replace(/\s+#.*$/, "").trim())
      .filter(Boolean),
  ),
].sort((one, other) => Number(IS_LOGIN.test(other)) - Number(IS_LOGIN.test(one)));

/** A device's log without lines. */
const KEPT = { build: null, uptime: 1, lines: [] };

let platform: Platform;
let device: ScriptedDevice;
let home: string;

test.before(async () => {
  home = scratch();
  platform = await startPlatform({ port: 0, profile: { key: "KEY", secret: "SECRET" } });
  device = new ScriptedDevice(platform, NAME);
  void device.answer((method) => (method === "mote.log" ? KEPT : { did: method }));
  await device.send("telemetry", { temperature: 21.5 });
  writeFileSync(join(home, "image.bin"), "an image");
});
test.after.always(async () => {
  device.end();
  killAll();
  await platform.close();
});

/** The environment of somebody who has just cloned the project, with the login of this test. */
function surroundings(): Record<string, string> {
  return {
    MOTE_LOGIN: join(home, "login.json"),
    MOTE_PLATFORM_PASSWORD: "tenant",
    MODDABLE: "",
    HOME: home,
    XDG_STATE_HOME: home,
  };
}

/** Arguments as a shell makes them of this line, with what belongs to this test in place of what belongs to the reader. */
function argumentsOf(line: string): string[] {
  const here = line
    .replace(/https?:\/\/(?:127\.0\.0\.1:8080|platform\.example\.com|analytics\.example\.com)/g, platform.url)
    .replace("--port 8080", "--port 0")
    .replace("--host 0.0.0.0", "--port 0")
    .replace(
      "--view LINK --from -7d --filter Building=North --date Day",
      `--view ${DEFAULT_VIEW.id} --from -7d --filter Device=${NAME}`,
    )
    .replace("--soak 10m", "--soak 1s");
  const words = here.slice(MOTE.length).match(/'[^']*'|\S+/g) ?? [];
  return words
    .map((word) => word.replace(/^'|'$/g, ""))
    .map((word) =>
      /^(?:image\.bin|week\.csv|load\.svg|\.\/(?:state|platform|page)|\.\.\/(?:greenhouse|house|meter|porch))$/.test(
        word,
      )
        ? join(home, word.replace("../", ""))
        : word,
    );
}

/** Ends by itself, with 0. */
const ends = (line: string, env = surroundings()): Promise<Result> => mote(argumentsOf(line), env);

/** Goes on until it is asked to stop, which is good once it has said `expected`. */
async function lasts(line: string, expected: RegExp, env = surroundings()): Promise<Result> {
  const child = launch(argumentsOf(line), env);
  const exited = once(child, "exit");
  let said = "";
  for await (const text of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    said += `${text}\n`;
    if (expected.test(said)) break;
  }
  child.kill("SIGINT");
  const [code] = await exited;
  return { code, out: said, err: "" };
}

/** The device reports its update as soon as it is assigned, and stays online until the command has ended. */
async function updates(line: string, whom = device): Promise<Result> {
  let over = false;
  const ended = ends(line).finally(() => {
    over = true;
  });
  let version: unknown;
  while (!over) {
    const { shared = {} } = (await whom.get("attributes?sharedKeys=fw_version,fw_checksum")) as {
      shared?: Record<string, unknown>;
    };
    if (shared.fw_version !== undefined && shared.fw_version !== version) {
      version = shared.fw_version;
      const current = {
        current_fw_title: "greenhouse",
        current_fw_version: version,
        current_fw_checksum: shared.fw_checksum,
      };
      await whom.send("telemetry", { fw_state: "UPDATED", ...current });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return ended;
}

/** Checks a command's options only; its own tests run it, with boards, keys and profiles. */
async function isKnown(line: string): Promise<Result> {
  const words = line.slice(MOTE.length).split(" ");
  let command: Command = await makeProgram();
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
  const wrong = words
    .filter((word) => word.startsWith("--"))
    .filter((word) => !command.options.some(({ long }) => long === word));
  return { code: wrong.length === 0 && command.parent ? 0 : 1, out: wrong.join(), err: "" };
}

let ofProfile: Promise<ScriptedDevice> | undefined;

/** The only device of its profile. */
function inProfile(): Promise<ScriptedDevice> {
  ofProfile ??= (async () => {
    const operator = await operatorOf(platform);
    const profile = await operator.profiles.save({ name: "greenhouse" });
    return new ScriptedDevice(platform, "greenhouse-9", { profileId: profile.id.id });
  })();
  return ofProfile;
}

/** To the devices of a profile: there is one. */
const rollsOut = async (line: string): Promise<Result> => updates(line, await inProfile());

function pushes(line: string): Promise<Result> {
  if (!line.includes(" push ") || line.includes("--undo")) return ends(line);
  return line.includes("--profile") ? rollsOut(line) : updates(line);
}

/** By the beginning of what follows `npx mote-cli `. */
const RUN: Record<string, (line: string) => Promise<Result>> = {
  run: (line) => lasts(line, /online/),
  platform: (line) => lasts(line.includes("--") ? line : `${line} --port 0`, /Ctrl-C stops it/),
  login: ends,
  // test/tools/cli/commands.slow.test.ts renews a token.
  devices: (line) => (line.includes("--renew") ? isKnown(line) : ends(line)),
  attributes: ends,
  rpc: ends,
  telemetry: (line) => (line.includes("--follow") ? lasts(line, /21\.5/) : ends(line)),
  firmware: pushes,
  // test/tools/cli/commands.slow.test.ts decodes a backtrace.
  logs: (line) => (line.includes(" | ") ? isKnown(line.split(" | ")[0] ?? "") : ends(line)),
  new: ends,
  // $MODDABLE is not set here: test/end-to-end/packages.slow.test.ts runs it where it is.
  simulator: async (line) => {
    const { code, err } = await ends(line);
    return { code: code === 1 && err.includes("the Moddable SDK is missing") ? 0 : 1, out: "", err };
  },
  doctor: (line) => ends(`${line} --quick`),
  // test/tools/cli/factory.slow.test.ts, test/tools/moddable/flash-board.test.ts
  flash: isKnown,
  factory: isKnown,
  report: ends,
};

for (const line of COMMANDS.filter((command) => command.startsWith(MOTE))) {
  const [name = ""] = line.slice(MOTE.length).split(" ");
  test.serial(`"mote ${line.slice(MOTE.length)}" does what the documents say`, async (t) => {
    const run = RUN[name];
    if (!run) return t.fail(`nothing here runs mote ${name}`);
    const { code, err, out } = await run(line);
    t.is(code, 0, `${out}${err}`);
  });
}

/** What else stands there, by its beginning: how it is run here, or by what else. */
const OTHERS: Record<string, string> = {
  "npm ci && npm start": ".ci/run installs; test/tools/tour/start.slow.test.ts starts",
  "npm start -- --for 30s": ".ci/run",
  "npm run simulator": "test/hosts/simulator",
  "node scripts/campaign.mjs simulator": "test/hosts/simulator",
  "npm run esp32 -- ": "test/tools/moddable builds; node scripts/campaign.mjs chip runs what was built",
  "espsecure ": "ESP-IDF's own",
  "npm ci": ".ci/run",
  "python3 -m http.server": "Python's own; test/tools/moddable builds the page",
  "echo ": "the shell's; test/hosts/simulator updates with such a file",
  "npm run docs": ".ci/run",
  $EDITOR: "the reader",
  "sudo ": "the reader; test/tools/run/device.slow.test.ts has the unit checked and its notifications read",
  "systemctl ": "the reader",
  "journalctl ": "the reader",
  "npm test": ".ci/run",
  "npm run test:all": ".ci/run",
  "node scripts/campaign.mjs platform": "npm run test:all runs the same files",
  "npm run bench": "bench/exact.slow.test.ts measures the same",
  "npm run setup:xs": ".ci/run",
  "npx ava ": "npm run test:all runs the same files, or others by the same command",
  "node scripts/campaign.mjs chip": "needs the emulated chip",
  "node scripts/campaign.mjs bench-chip": "takes more than an hour and the emulated chip",
  "node scripts/campaign.mjs removals": "takes an hour; npm run test:all runs the power losses themselves",
};
/** Runs that are as long as one likes: the argument that makes them so, and a short one. */
const SHORT: Record<string, [string, string]> = {
  "node scripts/campaign.mjs faults": ["--runs 100000", "--runs 2 --seed 1"],
  "node scripts/campaign.mjs fuzz": ["--documents 1000000", "--documents 20"],
  "node scripts/campaign.mjs power-loss all outbox": ["all outbox", "1 polls"],
  "node scripts/campaign.mjs sleep-cycles": ["--days 365 --runs 10", "--days 1 --runs 2"],
};

const CAMPAIGNS = `\n${execFileSync(process.execPath, ["scripts/campaign.mjs"], { encoding: "utf8" })}`;

test("every other command of the documents is known here, and its script exists", (t) => {
  for (const line of COMMANDS) {
    if (line.startsWith(MOTE) || line.startsWith("curl ")) continue;
    const known = [...Object.keys(OTHERS), ...Object.keys(SHORT)].some((start) => line.startsWith(start));
    t.true(known, line);
    const [, script] = /^npm run (?:-s )?(\S+)/.exec(line) ?? [];
    if (script !== undefined) t.true(Object.hasOwn(SCRIPTS, script), line);
    const [, campaign] = /^node scripts\/campaign\.mjs (\S+)/.exec(line) ?? [];
    if (campaign !== undefined) t.true(CAMPAIGNS.includes(`\n${campaign} `), line);
  }
  const { bin } = JSON.parse(readFileSync("tools/package.json", "utf8")) as { bin: Record<string, string> };
  t.is(bin["mote-cli"], "bin/mote.js");
});

for (const [start, [long, short]] of Object.entries(SHORT)) {
  test.serial(`"${start}" runs, in short`, async (t) => {
    const line = COMMANDS.find((command) => command.startsWith(start)) ?? "";
    t.true(line.includes(long), line);
    const { code, out } = await shell(line.replace(long, short), process.env);
    t.is(code, 0, out);
  });
}

test.serial("the fault switchboard's curl lines are taken", async (t) => {
  for (const line of COMMANDS.filter((command) => command.startsWith("curl "))) {
    const { code, out } = await shell(
      `${line.replace("curl -s", "curl -sf")}`.replaceAll("http://127.0.0.1:8080", platform.url),
      process.env,
    );
    t.is(code, 0, out);
  }
});

function shell(line: string, env: NodeJS.ProcessEnv): Promise<{ code: number; out: string }> {
  return new Promise((done) => {
    execFile("/bin/sh", ["-c", line], { cwd: resolve("."), env }, (error, stdout, stderr) =>
      done({ code: error ? 1 : 0, out: stdout + stderr }),
    );
  });
}
