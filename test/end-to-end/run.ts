// `mote run` as a user starts it: a supervisor and a worker, in processes of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Rig, Teardown } from "./rig.js";

const CLI = fileURLToPath(new URL("../../tools/cli/cli.js", import.meta.url));

export interface Line {
  readonly event: string;
  readonly [detail: string]: unknown;
}

export interface Run {
  readonly lines: Line[];
  /** SIGKILL to the supervisor and its worker at the same instant. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  seen(event: string): Line[];
}

/** An image whose default function has this body: `agent` and `host` are at hand. */
export function image(rig: Rig, version: string, body: string): string {
  const file = join(rig.stateDir, `app-${version}.mjs`);
  writeFileSync(file, imageText(rig, version, body));
  return file;
}

export function imageText({ name }: Rig, version: string, body: string): string {
  return `export const firmware = { title: "${name}", version: "${version}" };\nexport default function (agent, host) {\n${body}\n}\n`;
}

export function run(t: Teardown, rig: Rig, app: string, more: string[] = [], url = rig.url): Run {
  const args = [
    "run",
    "--url",
    url,
    "--device-name",
    rig.name,
    "--state",
    join(rig.stateDir, "run"),
    "--app",
    app,
  ];
  // A given server may be elsewhere and speak http.
  if (rig.server.url !== undefined) args.push("--allow-http-firmware");
  const { key, secret } = rig.provisioning;
  const child: ChildProcess = spawn(process.execPath, [CLI, ...args, "--log", "json", ...more], {
    env: { ...process.env, MOTE_PROVISION_KEY: key, MOTE_PROVISION_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
    // A process group of its own, to be killed as one.
    detached: true,
  });
  const exited = once(child, "exit");
  const lines: Line[] = [];
  if (child.stdout) createInterface(child.stdout).on("line", (line) => lines.push(JSON.parse(line)));
  const killAll = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // Gone already.
    }
  };
  t.teardown(killAll);
  return {
    lines,
    kill: async () => {
      killAll();
      await exited;
    },
    stop: async () => {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
    seen: (event) => lines.filter((line) => line.event === event),
  };
}
