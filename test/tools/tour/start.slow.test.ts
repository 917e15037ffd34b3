// `mote start` as a person runs it: real processes, real time. One after the other: six at once on
// two cores pass the time limits of a tour.
import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { logInLocally } from "../../../tools/cli/operator/local-login.js";
import { loginPath, readLogin, writeLogin } from "../../../tools/cli/operator/login-file.js";
import { usedPlatform, usePlatform } from "../../../tools/cli/operator/settings.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { STEPS } from "../../../tools/tour/steps/index.js";
import { freePort } from "../../fakes/listen.js";
import { CLI, killAll, launch } from "../cli/commands.js";
import { scratch } from "../scratch.js";
import { until } from "../until.js";

const directory = scratch();
test.after.always(killAll);

interface Run {
  process: ChildProcess;
  output: string;
  ended: Promise<number | null>;
  temporary: string;
  login: string;
}

/** Each run has temporary files of its own, to see what it leaves behind. */
function run(name: string, ...args: string[]): Run {
  const temporary = mkdtempSync(join(directory, `${name}-`));
  const login = join(mkdtempSync(join(directory, "login-")), "login.json");
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const child = launch(["start", ...port, ...args], { TMPDIR: temporary, MOTE_LOGIN: login });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const found = { process: child, output: "", temporary, login, ended };
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => (found.output += String(text)));
  return found;
}

/** The platform's address, once the agent is online and the hints are shown. */
async function up(start: Run): Promise<string> {
  await until(() => start.output.includes("firmware 2.0.0:") && /^online$/m.test(start.output));
  return until(() => /^platform (http:\S+)$/m.exec(start.output)?.[1]);
}

const stopsAnswering = (url: string): Promise<boolean> =>
  until(() =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );

const isHeld = (state: string): boolean => readdirSync(state).some((name) => name.startsWith("run.lock."));

test.serial("the tour sees every capability, then ends with 0 and leaves nothing behind", async (t) => {
  const start = run("tour", "--for", "50s");
  const code = await start.ended;
  t.is(code, 0, start.output);
  t.is(start.output.match(/^✓ /gm)?.length, STEPS.length);
  t.notRegex(start.output, /✗/);
  t.deepEqual(readdirSync(start.temporary), []);
});

test.serial("a tour without enough time ends with 1 and shows what was not reached", async (t) => {
  const start = run("short", "--for", "300ms");
  t.is(await start.ended, 1);
  t.is(start.output.match(/^✗ /gm)?.length, STEPS.length);
  t.regex(start.output, /^✗ the new firmware's .* {2}not reached$/m);
  t.deepEqual(readdirSync(start.temporary), []);
});

test.serial("the shell lines of the hints work", async (t) => {
  const start = run("hints");
  await up(start);
  const lines = start.output.split("\n").filter((line) => /^ {2}(?:\w+=\w+ )?npx mote-cli /.test(line));
  t.is(lines.length, 4, start.output);
  t.regex(start.output, /^the command line is logged in as tenant@thingsboard\.org$/m);
  t.regex(start.output, /^devices {2}provisioning key \w{20}, secret \w{20}$/m);
  const env = { ...process.env, MOTE_LOGIN: start.login };
  const shell = async (some: string[]) => {
    const here = some.map((line) => line.replace("npx mote-cli", `'${process.execPath}' '${CLI}'`));
    return (await promisify(execFile)("sh", ["-c", here.join(" && ")], { env })).stdout;
  };
  // The first point may not have been there yet.
  const reading = /^temperature +\d+(?:\.\d+)? +\d{4}-/m;
  const look = lines.filter((line) => line.includes(" telemetry "));
  let latest = await shell(look);
  for (let tries = 0; tries < 50 && !reading.test(latest); tries++) latest = await shell(look);
  t.regex(latest, reading);
  t.regex(await shell(lines), /"on": true,\s+"colour": "green"/);
  await until(() => /^firmware 2\.0\.0: confirmed$/m.test(start.output));
  t.regex(start.output, /^attributes: interval$/m);
  start.process.kill("SIGTERM");
  t.is(await start.ended, 0);
});

test.serial("platform and agent stop cleanly when their parent is killed", async (t) => {
  const state = join(directory, "killed-state");
  const start = run("killed", "--state", state, "--port", `${await freePort()}`);
  const url = await up(start);
  const device = join(state, new URL(url).port, "device");
  t.true(isHeld(device));
  start.process.kill("SIGKILL");
  await start.ended;
  t.true(await stopsAnswering(url));
  // Only an agent that ended in good order gives its state directory back.
  await t.notThrowsAsync(until(() => !isHeld(device)));
});

test.serial("a second start finds the device, its values and its provisioning key again", async (t) => {
  const args = ["--state", join(directory, "kept-state"), "--port", `${await freePort()}`];
  const keys: (string | undefined)[] = [];
  for (const starts of [1, 2]) {
    const start = run(`kept-${starts}`, ...args);
    const url = await up(start);
    t.notRegex(start.output, /^refused by /m);
    keys.push(/^devices .*$/m.exec(start.output)?.[0]);
    start.process.kill("SIGINT");
    t.is(await start.ended, 0);
    t.true(start.output.startsWith(`platform ${url}\n`));
    t.regex(start.output, /^online$/m);
    t.regex(start.output, /^stopped$/m);
    t.true(await stopsAnswering(url));
    t.deepEqual(readdirSync(start.temporary), []);
  }
  t.truthy(keys[0]);
  t.is(keys[0], keys[1]);
});

test.serial("a login of the user's own stays in use, also under the same name", async (t) => {
  const start = run("login", "--port", "0", "--for", "1ms");
  await start.ended;
  process.env.MOTE_LOGIN = start.login;
  t.teardown(() => delete process.env.MOTE_LOGIN);
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
  const own = {
    url: "https://platform.invalid",
    username: "me",
    session: { token: "token", refreshToken: "refresh" },
  };
  writeLogin(own);
  t.regex(await logInLocally(platform.url, "mote"), /your login stays in use; .*mote login --use local/);
  t.is(usedPlatform(), undefined);
  t.like(readLogin(), own);
  usePlatform("local");
  t.regex(await logInLocally(platform.url, "mote"), /^the command line is logged in/);
  writeLogin(own, loginPath("local"));
  t.regex(await logInLocally(platform.url, "mote"), /^log in: mote login --url/);
  t.like(readLogin(loginPath("local")), own);
});
