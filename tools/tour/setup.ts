import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../../hosts/node/files.js";
import { writePrivately } from "../cli/operator/login-file.js";
import { freePlace } from "../platform/own-platform.js";
import { builtFile } from "../project.js";
import { AgentRun } from "./agent-run.js";
import { openPlatform } from "./platform-process.js";
import type { Child, ChildEvent } from "./processes.js";

/** As in the documents, so that their commands are for it. */
const DEVICE = "greenhouse-7";

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

/**
 * Starts the platform and prepares the agent. Throws if the platform does not start, or `stop`
 * aborts before.
 */
export async function openSetup(
  options: SetupOptions,
  stop: AbortSignal,
  onEvent: (event: ChildEvent) => void,
): Promise<Setup> {
  const { folder, port, intervalMs = 1_000 } = options;
  const temporary = folder === undefined ? mkdtempSync(join(tmpdir(), "mote-")) : undefined;
  const place = await freePlace(folder ?? temporary!, port);
  const env = profileIn(join(place.device, ".."));
  const removeTemporary = (): void => {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  };
  const kept = folder === undefined ? ["--no-state"] : ["--state", place.platform];
  // The tour shows a client-side RPC, which a stock server answers with nothing.
  const args = [...kept, "--port", String(place.port), "--rule-chain"];
  const { platform, url } = await openPlatform({ args, env, stop }).catch((error: unknown) => {
    removeTemporary();
    throw error;
  });
  const deviceName = DEVICE;
  const stateDir = place.device;
  const agent = new AgentRun({ url, deviceName, stateDir, image: images.first, intervalMs, env, onEvent });
  const close = async (): Promise<void> => {
    await agent.stop();
    await platform.stop();
    removeTemporary();
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
