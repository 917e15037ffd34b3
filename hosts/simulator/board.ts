// `mote/board` in the simulator: runs a board's project, with the configuration of its manifest, on
// files below the home directory.

import files, { type Files } from "embedded:storage/files";
import config from "mc/config";
import type { Agent } from "mote";
import { createHost, type Image, type SimulatorHost, startImage } from "mote-simulator";
import type { Config } from "../../extras/commissioning/built-in-configuration.js";
import { assemble, startDevice } from "../device/assemble.js";
import { eventLine, followAgent } from "../device/event-lines.js";
import { joinExtras, type Program } from "../device/extras.js";
import { TimedWakes } from "../device/wakes.js";
import { readConfig } from "../esp32/config.js";
import { builtInAuthorities } from "../moddable/authorities.js";
import { log } from "../moddable/log.js";
import type { SimulatorDiagnostics } from "./diagnostics.js";
import { NetworkSwitch } from "./network-switch.js";
import { observePoints } from "./recorded-points.js";

/** Holds a folder for each firmware title, so that two projects are two devices. */
const FOLDER = "mote-simulator";
const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Like the one in hosts/esp32/start.ts. */
export type SimulatorCommissioner = (
  host: SimulatorHost,
  config: Config,
  go: StartSimulatedAgent,
) => Agent | undefined;
export type StartSimulatedAgent = (host: SimulatorHost, config: Config) => Agent | undefined;

export interface SimulatorExtras {
  readonly commission?: SimulatorCommissioner;
  readonly diagnostics?: SimulatorDiagnostics;
}

/**
 * See hosts/esp32/types.d.ts. An application that throws ends the simulator, because no supervisor
 * restarts it.
 */
export const start = (program: Program<SimulatorExtras>): Agent | undefined => {
  const { commission, diagnostics: diagnose } = joinExtras(program);
  const { title = "", version = "" } = (config as { firmware?: Partial<Image> }).firmware ?? {};
  const own = below(below(files, FOLDER), folderName(title));
  const image = version === "" ? undefined : startImage(own, { title, version }, log);
  const made = createHost(own, {
    authorities: builtInAuthorities(config.ca),
    // Nobody reports here how the last run ended.
    lastRun: { reset: "start", crash: false },
  });
  const network = new NetworkSwitch(made.clock);
  const machine = { ...made, open: network.watch(made.open) };
  const diagnostics = diagnose?.(machine);
  const whole = diagnostics?.host ?? machine;
  // The engine reports that it ends, but not why.
  Object.assign(globalThis, { abort: (_: unknown, error: unknown) => whole.log("error", lastWords(error)) });
  const go: StartSimulatedAgent = (host, configured) => {
    const settings = readConfig(asImage(configured, image));
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
        extras: [diagnostics],
        settings: { intervalMs, version },
        health: {},
        sleeper,
        made(agent) {
          host.log("info", `${what} starts on ${host.hardwareId}, with ${options.baseUrl}`);
          if (config.panel) showOn(agent, { title, version: version ?? "" }, network, machine);
          // A board prints no events. The device log has the important ones.
          followAgent(agent, (event) => machine.log("info", eventLine(event)));
        },
      },
      program.application,
    );
    if (typeof device === "string") return misconfigured(host, device);
    startDevice(device);
    return device.agent;
  };
  return commission ? commission(whole, config, go) : go(whole, config);
};

const showOn = (agent: Agent, image: Image, network: NetworkSwitch, machine: SimulatorHost): void => {
  const observe = observePoints(agent);
  void import("mote/screen").then(({ show }) =>
    show(agent, image, { network, cut: () => machine.restart("power") }, observe),
  );
};

/** The configuration of the image that runs, which may be another than the program's own. */
const asImage = (config: Config, image: Image | undefined): Config =>
  image ? { ...config, firmware: { ...(config.firmware as object), ...image } } : config;

/** A title may have any character: those of a file name stay, others become "_". */
const folderName = (title: string): string => {
  let name = "";
  for (const char of title) name += PLAIN.includes(char) ? char : "_";
  return name === "" ? "untitled" : name;
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
