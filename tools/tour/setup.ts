import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../../hosts/node/files.js";
import { writePrivately } from "../cli/operator/login-file.js";
import { freePlace, type Place } from "../platform/own-platform.js";
import { builtFile } from "../project.js";
import { AgentRun } from "./agent-run.js";
import { Child, type ChildEvent } from "./processes.js";

/** As in the documents, so that their commands are for it. */
const DEVICE = "greenhouse-7";
const START_MS = 10_000;

/** A type, because it is an environment. */
type Profile = { MOTE_PROVISION_KEY: string; MOTE_PROVISION_SECRET: string };

export interface SetupOptions {
  /** Default: the first free one from 8080 on. */
  port?: number | undefined;
  /** Keeps the state of platform and agent there, for each port. Default: nothing is kept. */
  folder?: string | undefined;
  /** Between two points, in milliseconds. Default 1,000. */
  intervalMs?: number | undefined;
}

/** A local platform and an agent, side by side: two processes that end with this one. */
export interface Setup {
  readonly url: string;
  readonly deviceName: string;
  readonly intervalMs: number;
  readonly platform: Child;
  readonly agent: AgentRun;
  /** Of the platform's profile, as environment variables. */
  readonly env: Profile;
  /** State directory; undefined: temporary. */
  readonly folder: string | undefined;
  /** Stops both and removes what is temporary. */
  close(): Promise<void>;
}

export const images = {
  first: builtFile("tools/tour/app-1.0.0.mjs"),
  next: builtFile("tools/tour/app-2.0.0.mjs"),
} as const;

/** Starts the platform and prepares the agent. Throws if the platform does not start. */
export async function openSetup(options: SetupOptions, onEvent: (event: ChildEvent) => void): Promise<Setup> {
  const { folder, port, intervalMs = 1_000 } = options;
  const temporary = folder === undefined ? mkdtempSync(join(tmpdir(), "mote-")) : undefined;
  const place = await freePlace(folder ?? temporary!, port);
  const env = profileIn(join(place.device, ".."));
  const { platform, url } = await openPlatform(place, env, folder !== undefined);
  const deviceName = DEVICE;
  const stateDir = place.device;
  const agent = new AgentRun({ url, deviceName, stateDir, image: images.first, intervalMs, env, onEvent });
  const close = async (): Promise<void> => {
    await agent.stop();
    await platform.stop();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  };
  return { url, deviceName, intervalMs, platform, agent, env, folder, close };
}

/** Provisioning key and secret: the stored ones, or new ones. */
function profileIn(folder: string): Profile {
  const path = join(folder, "provisioning.json");
  const stored = readIfThere(path);
  if (stored) return JSON.parse(stored.toString()) as Profile;
  const made = {
    MOTE_PROVISION_KEY: randomBytes(10).toString("hex"),
    MOTE_PROVISION_SECRET: randomBytes(10).toString("hex"),
  };
  writePrivately(path, made);
  return made;
}

async function openPlatform(
  { port, platform: directory }: Place,
  env: Profile,
  isKept: boolean,
): Promise<{ platform: Child; url: string }> {
  // The tour shows a client-side RPC, which a stock server answers with nothing.
  const args = [
    "platform",
    ...(isKept ? ["--state", directory] : ["--no-state"]),
    "--port",
    String(port),
    "--rule-chain",
  ];
  return new Promise((resolve, reject) => {
    const platform = new Child([...args, "--json"], env, (event) => {
      if (event.event !== "listening" || typeof event.url !== "string") return;
      clearTimeout(timer);
      resolve({ platform, url: event.url });
    });
    const fail = async (why: string): Promise<void> => {
      clearTimeout(timer);
      await platform.stop();
      reject(new Error(`the platform did not start: ${platform.lastStderrLine || why}`));
    };
    const timer = setTimeout(() => void fail(`nothing heard for ${START_MS / 1000} s`), START_MS);
    void platform.ended.then(({ code }) => fail(`it ended with ${code}`));
  });
}
