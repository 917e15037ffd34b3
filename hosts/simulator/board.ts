// `mote/board` in the simulator: runs a board's project, with the configuration of its manifest, on
// files below the home directory.

import files, { type Files } from "embedded:storage/files";
import config from "mc/config";
import type { Agent } from "mote";
import { createHost, type SimulatorHost } from "mote-simulator";
import type { Config } from "../../extras/commissioning/built-in-configuration.js";
import { readConfig } from "../esp32/config.js";
import { assemble, startDevice } from "../shared/assemble.js";
import { eventLine, followAgent } from "../shared/event-lines.js";
import { joinExtras, type Program } from "../shared/extras.js";
import { TimedWakes } from "../shared/wakes.js";
import { builtInAuthorities } from "../xs/authorities.js";
import type { SimulatorLogKeeper } from "./kept-log.js";

/** Prefix of stored files, so that nothing else in the home directory is touched. */
const FOLDER = "mote-simulator";

/** Like the one in hosts/esp32/start.ts. */
export type SimulatorCommissioner = (
  host: SimulatorHost,
  config: Config,
  go: StartSimulatedAgent,
) => Agent | undefined;
export type StartSimulatedAgent = (host: SimulatorHost, config: Config) => Agent | undefined;

export interface SimulatorExtras {
  readonly commission?: SimulatorCommissioner;
  readonly keepLog?: SimulatorLogKeeper;
}

/**
 * See hosts/esp32/types.d.ts. An application that throws ends the simulator, because no supervisor
 * restarts it.
 */
export const start = (program: Program<SimulatorExtras>): Agent | undefined => {
  const { commission, keepLog } = joinExtras(program);
  const machine = createHost(below(files, FOLDER), {
    authorities: builtInAuthorities(config.ca),
    // Nobody reports here how the last run ended.
    lastRun: { reset: "start", crash: false },
  });
  const kept = keepLog?.(machine);
  const made = kept ? kept.over(machine) : machine;
  // The engine reports that it ends, but not why.
  Object.assign(globalThis, { abort: (_: unknown, error: unknown) => made.log("error", lastWords(error)) });
  const go: StartSimulatedAgent = (host, configured) => {
    const settings = readConfig(configured);
    if (Array.isArray(settings)) return misconfigured(host, settings.join("; "));
    const { options, intervalMs, timeoutMs } = settings;
    const { title = "the program", version } = options.firmware ?? {};
    const what = version === undefined ? title : `${title} ${version}`;
    const sleeper =
      timeoutMs === undefined
        ? undefined
        : new TimedWakes(host, (wake) => {
            host.log("info", eventLine({ ...wake, event: "wake" }));
            return true;
          });
    const device = assemble(
      {
        host,
        options,
        firmware: program.firmware,
        extras: [kept],
        settings: { intervalMs, version },
        health: {},
        sleeper,
        made(agent) {
          host.log("info", `${what} starts on ${host.hardwareId}, with ${options.baseUrl}`);
          // A board prints no events. The kept log has the important ones.
          followAgent(agent, (event) => machine.log("info", eventLine(event)));
        },
      },
      program.application,
    );
    if (typeof device === "string") return misconfigured(host, device);
    startDevice(device);
    return device.agent;
  };
  return commission ? commission(made, config, go) : go(made, config);
};

const lastWords = (error: unknown): string => {
  if (!(error instanceof Error)) return "the program threw a value that is not an Error";
  return error.stack ?? `${error.name}: ${error.message}`;
};

const misconfigured = (host: SimulatorHost, what: string): undefined => {
  host.log("error", `the configuration is wrong: ${what}`);
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
