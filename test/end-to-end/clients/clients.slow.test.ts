// The platform's official clients (from PyPI, in an environment of the project's own) against ours: every call that an operator of devices or a
// device makes. Skipped by name without Python or its package index.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import type { Platform } from "../../../tools/platform/server.js";
import { addPackage } from "../../tools/platform/rig.js";
import { platformFor } from "../../tools/platform-for.js";
import { scratch } from "../../tools/scratch.js";

const run = promisify(execFile);
const ROOT = new URL("../../..", import.meta.url);
const ENVIRONMENT = fileURLToPath(new URL("dist/clients", ROOT));
const PYTHON = `${ENVIRONMENT}/bin/python`;
/** In a folder of its own: it has the first one's name, but other models and other ways to send JSON. */
const NEWER = { place: `${ENVIRONMENT}/newer`, client: "tb-rest-client==4.4" };
// The device client installs the last one itself if it isn't there.
const CLIENTS = ["tb-rest-client==4.1.0", "tb-mqtt-client==1.13.14", "mmh3==5.3.1"];
const KEYS = { key: "clients-key", secret: "clients-secret" };
const TOKEN = "client-token";
const PATIENCE_MS = 240_000;

/** Why it can't be had; undefined if it is there. */
async function missing(): Promise<string | undefined> {
  try {
    if (!existsSync(PYTHON)) await run("python3", ["-m", "venv", ENVIRONMENT]);
    const install = [PYTHON, "-m", "pip", "install", "-q"] as const;
    const patience = { timeout: PATIENCE_MS };
    await run(install[0], [...install.slice(1), ...CLIENTS], patience);
    if (!existsSync(NEWER.place))
      await run(install[0], [...install.slice(1), "--target", NEWER.place, NEWER.client], patience);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : "unknown";
  }
}

const why = await missing();
const withClients = why === undefined ? test.serial : test.serial.skip;

/** The device that TBHTTPDevice plays, with a package that waits for it. */
function prepareDevice({ core }: Platform): void {
  const profileId = core.profiles.default.id;
  const device = core.createDevice({ name: "http", profileId }, TOKEN);
  const target = addPackage(core, { title: "image-of-clients" }, Buffer.from("image of the clients"));
  core.updateDevice(device, { ...device, firmwareId: target.id });
}

async function drive(t: ExecutionContext, script: string, more: string[], environment = {}): Promise<void> {
  t.timeout(PATIENCE_MS);
  const log = (line: string): void => t.log(line);
  const platform = await platformFor(t, { profile: KEYS, ruleChain: true, log });
  if (more.length > 0) prepareDevice(platform);
  const cwd = scratch();
  const file = fileURLToPath(new URL(`test/end-to-end/clients/${script}`, ROOT));
  // What they share is compiled for this run alone: nothing of it stays beside the sources.
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...environment };
  const ended = await run(PYTHON, [file, platform.url, TOKEN, ...more], { cwd, env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const calls = ended.stdout.split("\n").filter((line) => line.startsWith("ok "));
  t.log(`${calls.length} calls: ${calls.map((line) => line.slice(3)).join(", ")}`);
  t.false(ended instanceof Error, ended.stderr.slice(-3_000));
}

withClients(`tb-rest-client makes every call of an operator of devices${skipped()}`, (t) =>
  drive(t, "rest_calls.py", []),
);
withClients(`TBHTTPDevice makes every call of a device${skipped()}`, (t) =>
  drive(t, "device_calls.py", [KEYS.key, KEYS.secret]),
);
withClients(`the newer tb-rest-client sends JSON as text, and claims by name${skipped()}`, (t) =>
  drive(t, "text_calls.py", [], { PYTHONPATH: NEWER.place }),
);

function skipped(): string {
  return why === undefined ? "" : ` (skipped: ${why})`;
}
