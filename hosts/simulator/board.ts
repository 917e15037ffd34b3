// `mote/board` in the simulator: the project that runs on a board, with the configuration of its manifest, on files below the home directory.

import files, { type Files } from "embedded:storage/files";
import config from "mc/config";
import { Agent, type AgentOptions } from "mote";
import { createHost, type SimulatorHost } from "mote-simulator";
import { readConfig } from "../esp32/config.js";
import type { Application } from "../esp32/start.js";
import type { Config } from "../shared/commissioning/built-in-configuration.js";
import { eventLine, followAgent } from "../shared/event-lines.js";
import type { RenewTrust } from "../shared/trust/trust.js";
import { wakeAgain } from "../shared/wakes.js";
import { builtInAuthorities } from "../xs/authorities.js";
import type { LogKeeper } from "./kept-log.js";

/** Of what is kept, so that nothing else of the home directory is touched. */
const FOLDER = "mote-simulator";

/** As that of hosts/esp32/start.ts. */
export type Commissioner = (host: SimulatorHost, config: Config, go: Go) => Agent | undefined;
export type Go = (host: SimulatorHost, config: Config) => Agent | undefined;

interface Modules {
  readonly keepLog?: LogKeeper;
  readonly renewTrust?: RenewTrust;
}

/** As hosts/esp32/types.d.ts. An application that throws ends the simulator, as no supervisor is there to start it again. */
export const start = (
  application: Application,
  commission?: Commissioner,
  { keepLog, renewTrust }: Modules = {},
): Agent | undefined => {
  const machine = createHost(below(files, FOLDER), {
    authorities: builtInAuthorities(config.ca),
    renewTrust,
    // Nobody says here how the run before ended.
    lastRun: { reset: "start", crash: false },
  });
  const kept = keepLog?.(machine);
  const show = machine.log;
  const made = kept ? kept.over(machine) : machine;
  // The engine itself says that it ends, and not by what.
  Object.assign(globalThis, { abort: (_: unknown, error: unknown) => made.log("error", lastWords(error)) });
  const go: Go = (host, configured) => {
    const settings = readConfig(configured);
    const agent = Array.isArray(settings) ? settings.join("; ") : agentOf(host, settings.options);
    if (Array.isArray(settings) || typeof agent === "string") {
      host.log("error", `the configuration is wrong: ${agent}`);
      return undefined;
    }
    const { options, intervalMs, timeoutMs } = settings;
    const { title = "the program", version } = options.firmware ?? {};
    const what = version === undefined ? title : `${title} ${version}`;
    host.log("info", `${what} starts on ${host.hardwareId}, with ${options.baseUrl}`);
    kept?.attend(agent);
    host.renewal?.attend(agent);
    // A board prints nothing of this: there is nobody to read it. What of it is worth keeping the log has already.
    followAgent(agent, (event) => show("info", eventLine(event)));
    const sleeps = timeoutMs !== undefined;
    const appSettings = { intervalMs, version: options.firmware?.version, ...(sleeps && { sleeps }) };
    const sample = application(agent, { ...host, settings: appSettings, health: {} });
    if (sleeps)
      wakeAgain(agent, host, sample, (wake) => {
        host.log("info", eventLine({ ...wake, event: "wake" }));
        return true;
      });
    else agent.start();
    return agent;
  };
  return commission ? commission(made, config, go) : go(made, config);
};

const lastWords = (error: unknown): string => {
  if (!(error instanceof Error)) return "what was thrown is no error";
  return error.stack ?? `${error.name}: ${error.message}`;
};

/** The agent, or what is wrong with its options. */
const agentOf = (host: SimulatorHost, options: AgentOptions): Agent | string => {
  try {
    return new Agent(host, options);
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  }
};

const below = (all: Files, folder: string): Files => {
  all.createDirectory(folder);
  const at = (path: string): string => `${folder}/${path}`;
  return {
    openFile: (options) => all.openFile({ ...options, path: at(options.path) }),
    createDirectory: (path) => all.createDirectory(at(path)),
    delete: (path) => all.delete(at(path)),
    scan: (path) => all.scan(path === "" ? folder : at(path)),
    move: (from, to) => all.move(at(from), at(to)),
  };
};
