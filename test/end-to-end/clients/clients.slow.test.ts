// The platform's official clients (from PyPI, in an environment of the project's own) against ours: every call that an operator of devices or a
// device makes. Skipped by name without Python or its package index.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import type { Mode } from "../../../tools/platform/device/modes.js";
import { startPlatform } from "../../../tools/platform/server.js";

const run = promisify(execFile);
const ROOT = new URL("../../../../", import.meta.url);
const ENVIRONMENT = fileURLToPath(new URL("dist/clients", ROOT));
const PYTHON = `${ENVIRONMENT}/bin/python`;
// The device client installs the last one itself if it isn't there.
const CLIENTS = ["tb-rest-client==4.1.0", "tb-mqtt-client==1.13.14", "mmh3==5.3.1"];
const KEYS = { key: "clients-key", secret: "clients-secret" };
const PATIENCE_MS = 240_000;

/** Why it can't be had; undefined if it is there. */
async function missing(): Promise<string | undefined> {
  try {
    if (!existsSync(PYTHON)) await run("python3", ["-m", "venv", ENVIRONMENT]);
    await run(PYTHON, ["-m", "pip", "install", "-q", ...CLIENTS], { timeout: PATIENCE_MS });
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : "unknown";
  }
}

const why = await missing();
const withClients = why === undefined ? test.serial : test.serial.skip;

async function drive(t: ExecutionContext, as: Mode, script: string, more: string[]): Promise<void> {
  t.timeout(PATIENCE_MS);
  const platform = await startPlatform({ port: 0, as, profile: KEYS, log: (line) => t.log(line) });
  t.teardown(() => platform.close());
  const file = fileURLToPath(new URL(`test/end-to-end/clients/${script}`, ROOT));
  if (more.length > 1)
    platform.core.createDevice(
      { name: "http", profileId: platform.core.profiles.default.id },
      "client-token",
    );
  const ended = await run(PYTHON, [file, platform.url, "client-token", ...more]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const calls = ended.stdout.split("\n").filter((line) => line.startsWith("ok "));
  t.log(`${calls.length} calls: ${calls.map((line) => line.slice(3)).join(", ")}`);
  t.false(ended instanceof Error, ended.stderr.slice(-3_000));
}

for (const as of ["documented", "deployed"] as const) {
  withClients(`${as}: tb-rest-client makes every call of an operator of devices${skipped()}`, (t) =>
    drive(t, as, "rest_calls.py", []),
  );
  withClients(`${as}: TBHTTPDevice makes every call of a device${skipped()}`, (t) =>
    drive(t, as, "device_calls.py", [KEYS.key, KEYS.secret]),
  );
}

function skipped(): string {
  return why === undefined ? "" : ` (skipped: ${why})`;
}
