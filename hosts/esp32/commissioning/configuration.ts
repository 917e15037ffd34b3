// The configuration of a board, built in and stored; its button; and when to ask its owner.

import {
  type Config,
  isIncomplete,
  membersOf,
  valuesOf,
  withOwnName,
  withSecondWifi,
  withStoredSettings,
} from "../../../extras/commissioning/built-in-configuration.js";
import { Improv } from "../../../extras/commissioning/improv.js";
import {
  finishInterrupted,
  readStoredSettings,
  storedSecond,
  storedToken,
  storeSecondWifi,
  storeWifi,
} from "../../../extras/commissioning/stored-settings.js";
import type { Before } from "../../../extras/commissioning/values.js";
import { Recovery } from "../../../src/board-module.js";
import { Agent } from "../../../src/index.js";
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";
import { misconfigured } from "../misconfigured.js";
import { type StartAgent, timeOf } from "../start.js";
import { BY_HAND, NAME } from "../store.js";
import { aboutBoard } from "./about-board.js";
import { isHeld, type Pin, whenHeld } from "./button.js";
import { type Cable, openCables } from "./cables.js";
import { type Commission, checkCommission } from "./check-configuration.js";
import { openCommissioning, trusting } from "./commissioning.js";
import { RemoteWifi } from "./remote-wifi.js";
import type { SdkModules, WifiFunctions } from "./sdk-modules.js";

interface Board {
  readonly modules: SdkModules;
  readonly machine: BoardHardware;
  readonly host: BoardHost;
  /** The built-in configuration, with the name set by the factory. */
  readonly built: Config;
  readonly config: Config;
  readonly stored: Before;
  readonly go: StartAgent;
  /** True if a person started the board, as opposed to a program, a crash or an update. */
  readonly isByHand: boolean;
}

const NOWHERE = { baseUrl: "http://none", token: "none" } as const;
const HELD_MS = 1000;
const RESET_HELD_MS = 10_000;

export const commissionBy = (
  modules: SdkModules,
  machine: BoardHardware,
  made: BoardHost,
  go: StartAgent,
): Agent | undefined => {
  finishInterrupted(made, () => void new Agent(made, NOWHERE));
  const { baseUrl } = machine.config;
  const built = withOwnName(machine.config, nameOf(made));
  const stored = readStoredSettings(made, typeof baseUrl === "string" ? baseUrl : undefined);
  const config = withSecondWifi(withStoredSettings(built, stored), built, storedSecond(made));
  const host = trusting(machine, made, stored.ca);
  const chip = (machine.idf as unknown as WifiFunctions).mote_chip();
  const wrong = checkCommission(config.commission, chip);
  if (wrong !== undefined) return misconfigured(host, wrong);
  const board: Board = { modules, machine, host, built, config, stored, go, isByHand: isByHand(host) };
  const button = buttonOf(board);
  const isWake = host.lastRun.sleptMs !== undefined;
  // Three short power-ons ask for commissioning on a board without a button.
  const isAskedFor = Recovery.takeSetupRequest(host);
  const begin = (): Agent | undefined =>
    isIncomplete(config) || isAskedFor ? ask(board) : run(board, button);
  // After another restart, a stuck button would open the page again and again.
  if (button?.read() !== 0 || !(board.isByHand || isWake)) return begin();
  // A sleeping board is awake too briefly for a button that is checked while it runs.
  const [ms, held] = isWake
    ? [RESET_HELD_MS, () => resetByButton(host)]
    : [HELD_MS, () => ask({ ...board, isByHand: true })];
  isHeld(button, machine.clock, ms, (is) => (is ? held() : begin()));
  return undefined;
};

const isByHand = ({ lastRun, own }: BoardHost): boolean => {
  const isNoted = own.get(BY_HAND) !== undefined;
  if (isNoted) own.delete(BY_HAND);
  return isNoted || lastRun.interrupted === true;
};

const nameOf = (host: BoardHost): string | undefined => {
  const bytes = host.own.get(NAME);
  return bytes && host.decode(bytes);
};

/** Makes the next start count as manual. */
const noteHand = (host: BoardHost): void => void host.own.set(BY_HAND, new Uint8Array(1));

const resetByButton = (host: BoardHost, agent = new Agent(host, NOWHERE)): void => {
  host.log("warn", "the button was held: resetting the device");
  noteHand(host);
  reset(agent, host, "reset by the button");
};

const buttonOf = ({ modules, host, config }: Board): Pin | undefined => {
  const { button } = membersOf<Commission>(config.commission);
  if (button === undefined) return undefined;
  try {
    return modules.pin(button);
  } catch {
    host.log("error", `config.commission.button: pin ${button} is not available`);
    return undefined;
  }
};

const run = (board: Board, button: Pin | undefined): Agent | undefined => {
  const { host, config, go } = board;
  const native = board.machine.idf as unknown as WifiFunctions;
  const agent = go(host, config, (made, wifi, network) => {
    new RemoteWifi({
      agent: made,
      wifi,
      host,
      native,
      network,
      token: () => storedToken(host) ?? (config.token as string | undefined),
      storeNetwork: (other) => storeWifi(host, other),
      storeSecond: (second) => storeSecondWifi(host, second),
    });
  });
  if (typeof agent === "string") return ask(board, agent);
  // A sleeping board would fall asleep before it answered.
  if (config.cycle === undefined) answerCables(board);
  if (!button) return agent;
  whenHeld(button, host.clock, RESET_HELD_MS, () => resetByButton(host, agent));
  return agent;
};

/**
 * Tells Improv clients on a cable that the device is configured, and where its platform is. The
 * client is made when the first byte comes: most boards never see a cable again.
 */
const answerCables = (board: Board): void => {
  const { modules, machine, host, config } = board;
  const { serial } = membersOf<Commission>(config.commission);
  openCables(modules, machine, host, { serial, isRunning: true }, (cable) => {
    let read: ((bytes: Uint8Array) => void) | undefined;
    return (bytes) => {
      read ??= improvOf(board, cable).reader(host.clock);
      read(bytes);
    };
  });
};

const improvOf = ({ machine, host, config, stored }: Board, cable: Cable): Improv => {
  const { deviceName } = membersOf<{ deviceName: string }>(config.provisioning);
  const about = aboutBoard(machine, host, deviceName, () => valuesOf(config, stored));
  return new Improv({ ...about, write: (bytes) => cable.write(bytes) });
};

/**
 * Opens commissioning. `wrong`: the mistake to show, if one is the reason. Restarts afterwards. If
 * a new board gets no settings in time, it records points without a network if possible.
 */
const ask = (board: Board, wrong?: string): undefined => {
  const { modules, machine, host, built, config, stored } = board;
  const isNew = isIncomplete(config);
  // An image on trial without settings has lost those of the previous image: roll back.
  if ((isNew || wrong !== undefined) && host.slot.state() === "pending")
    return misconfigured(host, wrong ?? "the Wi-Fi, the platform's address or the credentials are missing");
  if (wrong !== undefined) host.log("error", `the configuration is wrong: ${wrong}`);
  const { password, serial } = membersOf<Commission>(config.commission);
  // From the built-in configuration: stored settings without a key contain no provisioning.
  const { deviceName } = membersOf<{ deviceName: string }>(built.provisioning);
  const time = timeOf(machine, host);
  openCommissioning(modules, machine, host, {
    before: valuesOf(config, stored),
    wrong,
    deviceName,
    password,
    serial,
    joined: () => time.learn(),
    watch: (open) => time.watch(open),
    isByHand: board.isByHand,
    over: (done) => {
      if (done) host.restart("commissioned");
      else if (wrong !== undefined) misconfigured(host, wrong);
      else if (!isNew) host.restart("not commissioned in time");
      else if (isIncomplete({ ...config, wifi: { ssid: "any" } }))
        misconfigured(host, "not commissioned in time; power-cycle the device to try again");
      else soon(host, () => run({ ...board, config: { ...config, wifi: false } }, undefined));
    },
  });
  return undefined;
};

/** Runs `step` on an empty stack: creating an agent needs more than a callback has left. */
const soon = (host: BoardHost, step: () => void): void => {
  host.clock.timer(0, step);
};

/** Restarts even if the reset failed: the next start completes it. */
const reset = (agent: Agent, host: BoardHost, why: string): void => {
  const restart = (): void => host.restart(why);
  agent.reset().then(restart, restart);
};
