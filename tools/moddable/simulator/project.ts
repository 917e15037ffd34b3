// Runs a board's project in the simulator, with a local platform unless it names one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { codeOf } from "../../../hosts/node/files.js";
import { calledAs } from "../../cli/invocation.js";
import { logInLocally } from "../../cli/operator/local-login.js";
import { pause } from "../../cli/stop.js";
import { FAILED, STOPPED } from "../../exit-codes.js";
import { type Platform, startPlatform } from "../../platform/server.js";
import { PROJECT } from "../../project.js";
import { hiding, Lines } from "../../run/lines.js";
import { refuseMissingModules, sourceAt } from "../../run/project/bundle.js";
import { serverLine } from "../../run/project/manifest.js";
import { limitedBy } from "../../tour/tour.js";
import { modulesOfBoard } from "../board-modules.js";
import { buildProgram } from "../build.js";
import { makeBuildFolder } from "../build-folder.js";
import { type Sdk, SdkError, sdkDoubt } from "../sdk.js";
import { openDisplay } from "./display.js";
import { type End, SimulatorRun } from "./simulator.js";

export interface ProjectFlags {
  url?: string;
  token?: string;
  provisionKey?: string;
  provisionSecret?: string;
  deviceName?: string;
  headless?: boolean;
}

const PORT = 8080;
const START_AGAIN_MS = 1000;
/** XS prints each exception, those that are caught too. */
const NOISE = /^# Exception: /;
const DELIVERED = /^delivered \d/;

/** Resolves with the exit code; with --headless, 0 only if points arrived. Throws SdkError. */
export async function runProject(
  sdk: Sdk,
  folder: string,
  stateDir: string,
  flags: ProjectFlags,
  stop: AbortSignal,
  forMs?: number,
): Promise<number> {
  const path = resolve(folder);
  const baseUrl = flags.url === undefined ? baseUrlOf(path, folder) : flags.url;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  // Before the build, which takes a minute.
  const display = await openDisplay(flags.headless === true);
  let own: Platform | undefined;
  try {
    if (baseUrl !== "" && flags.url === undefined) say(serverLine(baseUrl));
    own = baseUrl === "" ? await ownPlatform() : undefined;
    if (own) {
      say(`platform and console: ${own.url}. Press Ctrl-C to stop.`);
      say(await logInLocally(own.url, calledAs()));
    }
    const doubt = sdkDoubt(sdk);
    if (doubt !== undefined) process.stderr.write(`${doubt}\n`);
    const onBoard = await modulesOfBoard(sdk, path, join(path, "build", "simulator", "board"));
    await refuseMissingModules(sourceAt(path), onBoard);
    say("building for the simulator: the first time takes a minute");
    const program = await buildProject(sdk, path, configOf(path, flags, own));
    if (stop.aborted) return STOPPED;
    const lines = new ProgramLines(new Lines(process.stdout, "text", hiding(secretsOf(flags, own))));
    const until = forMs === undefined ? stop : limitedBy(stop, forMs, new Error("its time is over")).signal;
    const end = await runUntil(until, { sdk, program, display: display.name, directory: stateDir }, lines);
    return flags.headless && end === STOPPED && !lines.delivered ? FAILED : end;
  } finally {
    display.close();
    await own?.close();
  }
}

/** What the manifest itself says. Throws SdkError if there is no project. */
function baseUrlOf(path: string, folder: string): string {
  const manifest = join(path, "manifest.json");
  if (!existsSync(manifest))
    throw new SdkError(
      `${folder} has no manifest.json, as a project for Node has none. Create one for boards: mote new.`,
    );
  const { config = {} } = readManifest(manifest);
  return typeof config.baseUrl === "string" ? config.baseUrl : "";
}

function readManifest(file: string): { config?: { baseUrl?: unknown } } {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new SdkError(`${file}: ${error instanceof Error ? error.message : "invalid JSON"}`);
  }
}

/** Under the address that the documents name, if it is free. */
async function ownPlatform(): Promise<Platform> {
  try {
    return await startPlatform({ port: PORT, ruleChain: true });
  } catch (error) {
    const { cause } = error as Error;
    if (codeOf(cause) !== "EADDRINUSE") throw error;
    return startPlatform({ port: 0, ruleChain: true });
  }
}

/** Takes the place of members of the manifest's config. */
function configOf(path: string, flags: ProjectFlags, own: Platform | undefined): Record<string, unknown> {
  const { url, token, provisionKey, provisionSecret, deviceName = basename(path) } = flags;
  // The computer's own network is there.
  const config = { wifi: false };
  if (own) return { ...config, baseUrl: own.url, provisioning: { ...own.profile, deviceName } };
  const given = provisionKey !== undefined && provisionSecret !== undefined;
  return {
    ...config,
    ...(url !== undefined && { baseUrl: url }),
    ...(token !== undefined && { token }),
    ...(given && { provisioning: { key: provisionKey, secret: provisionSecret, deviceName } }),
  };
}

const secretsOf = (
  { token, provisionKey, provisionSecret }: ProjectFlags,
  own: Platform | undefined,
): string[] =>
  [token, provisionKey, provisionSecret, own?.profile.key, own?.profile.secret].filter(
    (secret) => secret !== undefined,
  );

const SCREEN = join(PROJECT, "hosts", "simulator", "screen", "manifest.json");
const OWN_SCREEN = /piu|commodetto/;

/** A project around the project: its manifest, and the settings given here. */
async function buildProject(sdk: Sdk, path: string, config: object): Promise<string> {
  const out = join(path, "build", "simulator");
  const project = join(out, "project", basename(path));
  makeBuildFolder(out);
  mkdirSync(project, { recursive: true });
  const own = join(path, "manifest.json");
  // A program that draws its own screen keeps it.
  const screen = OWN_SCREEN.test(readFileSync(own, "utf8")) ? [] : [SCREEN];
  const manifest = { include: [own, ...screen], config };
  writeFileSync(join(project, "manifest.json"), JSON.stringify(manifest, null, 2));
  return buildProgram(sdk, project, out);
}

interface Program {
  readonly sdk: Sdk;
  readonly program: string;
  readonly display: string;
  readonly directory: string;
}

/** What it prints, and whether points arrived. */
class ProgramLines {
  delivered = false;
  readonly #lines: Lines;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  tell(text: string): void {
    if (NOISE.test(text)) return;
    const line = text.replace(/^info: /, "");
    this.delivered ||= DELIVERED.test(line);
    this.#lines.tell({ event: "log", level: "info", line });
  }
}

/** Starts it again after each restart that it asks for. */
async function runUntil(stop: AbortSignal, program: Program, lines: ProgramLines): Promise<number> {
  for (;;) {
    const run = await SimulatorRun.start({ ...program, line: (text) => lines.tell(text) });
    const end = await endOf(run, stop);
    if (end.kind === "stopped") return STOPPED;
    if (end.kind === "crash") {
      lines.tell(`error: it ended: ${end.reason}`);
      return FAILED;
    }
    await pause(START_AGAIN_MS, stop);
  }
}

async function endOf(run: SimulatorRun, stop: AbortSignal): Promise<End> {
  const kill = (): void => void run.kill();
  if (stop.aborted) kill();
  stop.addEventListener("abort", kill, { once: true });
  try {
    return await run.ended;
  } finally {
    stop.removeEventListener("abort", kill);
  }
}
