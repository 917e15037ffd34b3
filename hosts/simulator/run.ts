// Runs the agent with the sample application, as configured by the supervisor.
import files from "embedded:storage/files";
import { type Agent, MoteError } from "mote";
import setUp from "mote-app";
import { createHost, readSettings } from "mote-simulator";
import { addDiagnostics } from "../../extras/diagnostics/index.js";
import { Recovery } from "../../src/board-module.js";
import type { AppHost } from "../device/application.js";
import { assemble, startDevice } from "../device/assemble.js";
import { followAgent } from "../device/event-lines.js";

const FLUSH_MS = 2000;

/** Messages to the supervisor, named like those of `mote run --log json`. */
const sendEvent = (event: { event: string } & Record<string, unknown>): void => {
  trace(`@event ${JSON.stringify(event)}\n`);
};

/** An observer, called before the application sets itself up. */
export type Show = (agent: Agent, image: { title: string; version: string }) => void;

const start = (show: Show | undefined): void => {
  const { agent: options, intervalMs, authorities, lastRun, image, control } = readSettings(files);
  const trusted = authorities.map((text) => Uint8Array.fromBase64(text));
  const machine = createHost(files, { authorities: trusted, lastRun });
  const diagnostics = addDiagnostics(machine);
  const { host } = diagnostics;
  const recovery = new Recovery(host, image);
  const { title = "", version = "" } = options.firmware ?? {};
  const device = assemble(
    {
      host,
      options,
      recovery,
      extras: [diagnostics],
      settings: { intervalMs, version: options.firmware?.version },
      health: {},
      made(agent) {
        followAgent(agent, sendEvent);
        show?.(agent, { title, version });
        if (recovery.active) sendEvent({ event: "recovery", cause: recovery.cause });
      },
    },
    setUpApplication,
  );
  if (typeof device === "string") throw new MoteError("BAD_OPTIONS", device);
  if (device.sample === false) return;
  const line = host.open("127.0.0.1", control, false, (what) => {
    if (what !== "readable") return;
    line.close();
    void end(device.agent, recovery);
  });
  startDevice(device);
};

/** False if the application threw: a crash like any other. */
const setUpApplication = (agent: Agent, host: AppHost): boolean => {
  try {
    setUp(agent, host);
    return true;
  } catch (error) {
    trace(`@crash ${error instanceof Error ? `${error.name}: ${error.message}` : "unknown"}\n`);
    return false;
  }
};

async function end(agent: Agent, recovery: Recovery): Promise<void> {
  recovery.markStable();
  await agent.flush({ timeoutMs: FLUSH_MS });
  await agent.stop();
  trace("@exit 0\n");
}

/** A failure ends the simulator with status 1. */
export const run = (show?: Show): void => {
  try {
    start(show);
  } catch (error) {
    trace(`${error instanceof Error ? `${error.message}\n${error.stack}` : "unknown"}\n@exit 1\n`);
  }
};
