// An ESP32 build by the SDK's mcconfig: of a project's folder, with the target's own options of ESP-IDF and ours as the last word.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { refusePrivateKeys } from "./private-keys.js";
import { PROJECT, type Sdk, SdkError } from "./sdk.js";
import { mergeOptions } from "./sdkconfig.js";

const OURS = join(PROJECT, "hosts", "esp32", "flash", "sdkconfig");
const VARIANTS = ["sdkconfig.defaults", "sdkconfig.defaults.release", "sdkconfig.inst"];
/** The one that the SDK was tested with; its makefile asks for the version even where nothing of ESP-IDF is used. */
const IDF_TAG = "v6.0";
const TARGET = /^esp32(?:\/(\w+))?$/;

const IDF_GUIDE = `The SDK's guide installs it (https://www.moddable.com/documentation/devices/esp32, Linux):
  sudo apt-get install git wget flex bison gperf python-is-python3 python3-pip python3-venv cmake ninja-build ccache libffi-dev libssl-dev dfu-util
  git clone -b ${IDF_TAG} --recursive https://github.com/espressif/esp-idf ~/.local/share/esp-idf
  cd ~/.local/share/esp-idf && ./install.sh all
  export IDF_PATH=~/.local/share/esp-idf && . $IDF_PATH/export.sh
Then try again. --check needs none of it.`;

export interface BuildOptions {
  readonly sdk: Sdk;
  /** With a manifest.json that includes ours. */
  readonly folder: string;
  /** As mcconfig names it: esp32, or esp32/NAME. */
  readonly target: string;
  readonly debug: boolean;
  /** Takes the place of members of the manifest's config. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Where everything is written. */
  readonly out: string;
}

/** Where a build lies once mcconfig has been there. */
export interface Build {
  /** mc.xs.c, modules, the makefile. */
  readonly directory: string;
  readonly log: string;
}

/** Compiles everything but C, which needs no ESP-IDF: manifest, types, modules, preload. Throws SdkError with the SDK's words if it fails. */
export async function buildScripts(options: BuildOptions): Promise<Build> {
  const { sdk, out } = options;
  const project = prepare(options);
  const env = { ...sdk.env, IDF_PATH: await idfStandIn(sdk, out) };
  const { directory, log: configuring } = await configure(options, project, env);
  let log = configuring;
  const configured = readdirSync(directory).find((name) => name.startsWith("xsProj-")) ?? "xsProj-esp32";
  // The makefile wants what only ESP-IDF makes, and takes it as it is.
  const header = join(directory, configured, "build", "config", "sdkconfig.h");
  mkdirSync(join(header, ".."), { recursive: true });
  writeFileSync(header, "");
  for (const product of ["mc.xs.c", "mc.resources.c"])
    log += await run(
      "make",
      ["-s", "-f", join(directory, "makefile"), "-o", header, join(directory, product)],
      project,
      env,
    );
  return { directory, log };
}

/** Builds and flashes, with the SDK's output as it comes. Resolves with the status of mcconfig. Throws SdkError if ESP-IDF is missing. */
export async function flash(options: BuildOptions): Promise<number> {
  const { sdk, target, debug, out } = options;
  const { IDF_PATH } = sdk.env;
  if (!IDF_PATH || !existsSync(join(IDF_PATH, "tools", "idf.py")))
    throw new SdkError(
      `ESP-IDF is missing: $IDF_PATH is ${IDF_PATH ? "no copy of it" : "not set"}.\n${IDF_GUIDE}`,
    );
  const project = prepare(options);
  await configure(options, project, sdk.env);
  const child = spawn(sdk.mcconfig, [...(debug ? ["-d"] : []), "-m", "-p", target, "-o", out], {
    cwd: project,
    env: sdk.env,
    stdio: "inherit",
  });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("exit", (code) => done(code ?? 1));
  });
}

/** Writes the makefile. Throws SdkError for a manifest that does not hold, or that has a private key among its resources. */
async function configure(
  { sdk, target, debug, out }: BuildOptions,
  project: string,
  env: NodeJS.ProcessEnv,
): Promise<Build> {
  const log = await run(sdk.mcconfig, [...(debug ? ["-d"] : []), "-p", target, "-o", out], project, env);
  const directory = join(out, "tmp", target, debug ? "debug" : "release", basename(project));
  refusePrivateKeys(join(directory, "makefile"));
  return { directory, log };
}

/** A project around the project: its manifest, the settings given here, and last, which is what counts, the options of ESP-IDF. */
function prepare({ sdk, folder, target, config, out }: BuildOptions): string {
  const manifest = join(resolve(folder), "manifest.json");
  if (!existsSync(manifest))
    throw new SdkError(`${folder} has no manifest.json. "mote new" makes a project.`);
  const project = join(out, "project", basename(resolve(folder)));
  // The SDK goes by the age of files: what was built for another target, or with other settings, must not stay.
  rmSync(join(out, "tmp"), { recursive: true, force: true });
  const own = join(out, "sdkconfig");
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  const theirs = targetOptions(sdk, target);
  for (const name of VARIANTS) {
    const [a, b] = [theirs && read(join(theirs, name)), read(join(OURS, name))];
    if (a !== undefined || b !== undefined) writeFileSync(join(own, name), mergeOptions(a ?? "", b ?? ""));
  }
  mkdirSync(project, { recursive: true });
  write(join(own, "manifest.json"), {
    build: { SDKCONFIGPATH: "./", PARTITIONS_FILE: join(OURS, "partitions.csv") },
  });
  write(join(project, "manifest.json"), { include: [manifest, join(own, "manifest.json")], config });
  return project;
}

/** The folder of the target's own options of ESP-IDF, if it has some. */
function targetOptions(sdk: Sdk, target: string): string | undefined {
  const [known, name] = TARGET.exec(target) ?? [];
  if (known === undefined) throw new SdkError(`${target} is no target: it is esp32, or esp32/NAME.`);
  if (name === undefined) return undefined;
  const directory = join(sdk.path, "build", "devices", "esp32", "targets", name);
  const text = read(join(directory, "manifest.json"));
  if (text === undefined) throw new SdkError(`the SDK has no target ${target}.`);
  const path: string | undefined = JSON.parse(text).build?.SDKCONFIGPATH;
  return path && resolve(directory, path.replace("$(MODDABLE)", sdk.path));
}

/** A repository with the one tag that the makefile looks for. */
async function idfStandIn(sdk: Sdk, out: string): Promise<string> {
  const directory = join(out, "no-idf");
  if (existsSync(join(directory, ".git"))) return directory;
  mkdirSync(directory, { recursive: true });
  const git = (...words: string[]) => run("git", words, directory, sdk.env);
  await git("init", "-q");
  await git(
    "-c",
    "user.name=mote",
    "-c",
    "user.email=mote@localhost",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "none",
  );
  await git("tag", IDF_TAG);
  return directory;
}

/** What it printed. Throws SdkError with its last lines if it failed. */
function run(program: string, words: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((done, failed) => {
    let log = "";
    const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (log += text));
    child.on("error", (error) => failed(new SdkError(`${program}: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0 && !FAILED.test(log)) done(log);
      else failed(new SdkError(`${basename(program)} failed:\n${toldBy(log)}`));
    });
  });
}

const FAILED = /^(?:###? ?)?[Ee]rror[:!]/m;
const NOISE = /^# |: not frozen$|: no const$/;
const toldBy = (log: string): string =>
  log
    .split("\n")
    .filter((line) => !NOISE.test(line))
    .slice(-20)
    .join("\n");

const read = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;
const write = (path: string, value: unknown): void =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
