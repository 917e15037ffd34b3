// `mote run` as a user starts it: a supervisor and a worker, in processes of their own.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../tools/run/messages.js";
import { launch, processOutput } from "../tools/cli/commands.js";
import type { Rig, Teardown } from "./rig.js";

export interface Run {
  /** SIGKILL to the supervisor and its worker at the same instant. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  seen(event: string): Event[];
}

/** An image whose default function has this body: `agent` and `host` are at hand. */
export function image(rig: Rig, version: string, body: string): string {
  const file = join(rig.stateDir, `app-${version}.mjs`);
  writeFileSync(file, imageText(rig, version, body));
  return file;
}

export function imageText({ name }: Rig, version: string, body: string): string {
  return `export const firmware = { title: "${name}", version: "${version}", trialMs: 1000 };\nexport default function (agent, host) {\n${body}\n}\n`;
}

export function run(t: Teardown, rig: Rig, app: string, more: string[] = [], url = rig.url): Run {
  const args = ["run", "--url", url, "--device-name", rig.name, "--app", app, "--log", "json", ...more];
  args.push("--state", join(rig.stateDir, "run"));
  // A given server may be elsewhere and speak http.
  if (rig.server.url !== undefined) args.push("--allow-http-firmware");
  const { key, secret } = rig.provisioning;
  // A process group of its own, to be killed as one.
  const child = launch(args, { MOTE_PROVISION_KEY: key, MOTE_PROVISION_SECRET: secret }, { detached: true });
  child.stderr?.pipe(process.stderr);
  const exited = once(child, "exit");
  const { events } = processOutput(child);
  const killAll = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // Gone already.
    }
  };
  t.teardown(killAll);
  return {
    kill: async () => {
      killAll();
      await exited;
    },
    stop: async () => {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
    seen: (event) => events.filter((one) => one.event === event),
  };
}
