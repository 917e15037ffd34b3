import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UNFENCED } from "../../hosts/node/files.js";
import { FileStore } from "../../hosts/node/store.js";
import { builtFile } from "../project.js";
import { AgentRun } from "./agent-run.js";
import { Child, type ChildEvent } from "./processes.js";

const PORT = 8080;
/** As in the documents, so that their commands are for it. */
const DEVICE = "greenhouse-7";
const START_MS = 10_000;

export interface SetupOptions {
  /** Default 8080 if it is free, otherwise any. */
  port?: number | undefined;
  /** Keeps the agent's state there; otherwise a temporary directory is made and removed. */
  stateDir?: string | undefined;
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
  /** Stops both and removes what is temporary. */
  close(): Promise<void>;
}

export const images = {
  first: builtFile("tools/tour/app-1.0.0.mjs"),
  next: builtFile("tools/tour/app-2.0.0.mjs"),
} as const;

/** Starts the platform and prepares the agent. Throws if the platform does not start. */
export async function openSetup(options: SetupOptions, onEvent: (event: ChildEvent) => void): Promise<Setup> {
  const env = {
    MOTE_PROVISION_KEY: randomBytes(10).toString("hex"),
    MOTE_PROVISION_SECRET: randomBytes(10).toString("hex"),
  };
  const { platform, url } = await openPlatform(options, env);
  const deviceName = DEVICE;
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), "mote-"));
  if (options.stateDir !== undefined) forgetToken(options.stateDir);
  const intervalMs = options.intervalMs ?? 1_000;
  const agent = new AgentRun({ url, deviceName, stateDir, image: images.first, intervalMs, env, onEvent });
  const close = async (): Promise<void> => {
    await agent.stop();
    await platform.stop();
    if (options.stateDir === undefined) rmSync(stateDir, { recursive: true, force: true });
  };
  return { url, deviceName, intervalMs, platform, agent, close };
}

/** Whether a state directory holds nothing yet. */
export function isFresh(stateDir: string): boolean {
  return !existsSync(stateDir) || readdirSync(stateDir).length === 0;
}

async function openPlatform(
  options: SetupOptions,
  env: Record<string, string>,
): Promise<{ platform: Child; url: string }> {
  const port = options.port ?? ((await isFree(PORT)) ? PORT : 0);
  // The tour shows a client-side RPC, which a stock server answers with nothing.
  const args = ["platform", "--no-state", "--port", String(port), "--rule-chain"];
  return new Promise((resolve, reject) => {
    const platform = new Child([...args, "--log", "json"], env, (event) => {
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

/** A new platform does not know the token of the previous one. */
function forgetToken(stateDir: string): void {
  const store = new FileStore(join(stateDir, "store"), UNFENCED);
  for (const key of ["token-old", "token", "proposed"]) store.delete(key);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
