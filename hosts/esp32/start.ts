// Starts a board: network, time, agent, application and watchdog.

import { pinAll } from "../../src/board-module.js";
import type { Agent } from "../../src/index.js";
import type { AppHost, Application } from "../device/application.js";
import { assemble, startDevice } from "../device/assemble.js";
import type { FirmwareFunctions } from "../device/extras.js";
import { AgentWatchdog } from "./agent-watchdog.js";
import { type BoardHardware, MEMORY, TLS } from "./board-hardware.js";
import { readConfig, type Settings } from "./config.js";
import { FULL } from "./crash-record.js";
import { DeepSleep } from "./deep-sleep.js";
import type { BoardDiagnostics, DiagnosedHost } from "./diagnostics/diagnostics-board.js";
import { type BoardHost, createHost } from "./host.js";
import { applicationShare, planMemory, SMALLEST } from "./memory-plan.js";
import { memoryOf, publishHealth } from "./memory-report.js";
import { misconfigured } from "./misconfigured.js";
import { type Network, Wifi } from "./network/wifi.js";
import { IMAGE } from "./slot.js";
import { TimeOfDay } from "./time-of-day.js";

/**
 * Calls `go` with the settings, now or after the owner entered them, or restarts instead
 * (commissioning/configuration.ts).
 */
export type Commissioner = (machine: BoardHardware, host: BoardHost, go: StartAgent) => Agent | undefined;
/**
 * Starts the agent with this configuration, or reports its mistakes. `joins` is called first on a
 * board with Wi-Fi; without `wifi` if it sleeps.
 */
export type StartAgent = (host: BoardHost, config: BoardHardware["config"], joins?: OnWifi) => Agent | string;
export type OnWifi = (agent: Agent, wifi: Wifi | undefined, network: Network) => void;

/** The members of the extras that a project passes to `start`. */
export interface Extras {
  readonly commission?: Commissioner;
  readonly diagnostics?: BoardDiagnostics;
}

/** More than the longest time between two requests of a working agent. */
const SILENCE_MS = 1_800_000;
/** Rejoin the network after the platform was unreachable for this long. */
const REJOIN_MS = 900_000;

/**
 * The agent; undefined if the configuration is wrong, which is logged every minute because nobody
 * may be listening yet.
 */
export const startBoard = (
  machine: BoardHardware,
  application: Application,
  { commission, diagnostics: diagnose }: Extras = {},
  firmware?: FirmwareFunctions,
): Agent | undefined => {
  const { host, diagnostics }: DiagnosedHost = diagnose
    ? diagnose(machine, createHost)
    : { host: createHost(machine) };
  if (machine.idf.mote_image_state() === IMAGE.new)
    host.log(
      "error",
      "the boot loader does not fall back from a broken image: flash it with this project's sdkconfig",
    );
  // Not to `host.log`, because the device log records the crash itself.
  const { crash } = host.lastRun;
  if (crash !== false) machine.log("error", host.redactor.clean(`the run before ended with: ${crash}`));
  // Plan before the radio is on and takes memory.
  const engine = machine.idf.mote_memory(MEMORY.engine) || SMALLEST.engine;
  const { limits } = planMemory({ engine, system: host.freeMemory() });
  if (crash !== false && crash.includes(FULL))
    machine.log(
      "error",
      `the application takes more than its share of the engine's memory, ${applicationShare(engine)} bytes`,
    );
  const go: StartAgent = (through, config, joins) =>
    run({ machine, host: through, diagnostics, firmware }, readConfig(config, limits), application, joins);
  if (commission) return commission(machine, host, go);
  const agent = go(host, machine.config);
  return typeof agent === "string" ? misconfigured(host, agent) : agent;
};

interface Started extends DiagnosedHost {
  readonly machine: BoardHardware;
  readonly firmware: FirmwareFunctions | undefined;
}

const run = (
  { machine, host, diagnostics, firmware }: Started,
  settings: Settings | string[],
  application: Application,
  joins?: OnWifi,
): Agent | string => {
  if (Array.isArray(settings)) return settings.join("; ");
  pinAll(settings.network, host.redactor);
  const { options, network, timeoutMs } = settings;
  const time = timeOf(machine, host);
  let agent: Agent | undefined;
  const wifi = new Wifi(machine.makeRadio, network ?? { ssid: "" }, host, (returned) => {
    time.learn();
    // Not if the board left on purpose, as every 15 minutes of an outage: the agent would connect
    // at once instead of after its random delay, and so would the whole fleet.
    if (returned) agent?.networkReturned();
    deepSleep?.networkJoined();
  });
  const deepSleep =
    timeoutMs === undefined ? undefined : new DeepSleep(machine, host, network ? wifi : undefined, timeoutMs);
  // Before creating the agent: its keys and tokens need random numbers, which need the radio.
  if (network && !deepSleep) wifi.start();
  // The application owns the network: nothing tells when there is one.
  if (!network && !deepSleep) time.learn();
  const running = (): boolean => agent !== undefined && agent.state !== "stopped";
  const watchdog = new AgentWatchdog(host, SILENCE_MS, () => (!network || wifi.online) && running());
  const open = watchdog.watch(time.watch(host.open));
  const watched = { ...host, open, hasNetwork: () => !network || wifi.hasJoined };
  const device = assemble(
    {
      host: watched,
      options,
      firmware,
      extras: [diagnostics],
      settings: { intervalMs: settings.intervalMs, version: options.firmware?.version },
      health: forDiagnostics(machine, host),
      sleeper: deepSleep,
      made(made) {
        agent = made;
        if (network) joins?.(made, deepSleep ? undefined : wifi, network);
        observeAgent(made, host, wifi, time, options.baseUrl, deepSleep !== undefined);
        // Only to the serial output, because the device log records both itself.
        made.on("online", () => machine.log("info", "online"));
        made.on("offline", ({ reason }) => machine.log("warn", `offline: ${reason}`));
      },
    },
    application,
  );
  if (typeof device === "string") return device;
  startDevice(device);
  return device.agent;
};

export const timeOf = ({ clock, built, askTime, idf }: BoardHardware, host: BoardHost): TimeOfDay =>
  new TimeOfDay(clock, host.own, host.log, built, askTime, () => {
    const to = idf.mote_tls(TLS.validTo);
    return to > 0 ? { from: idf.mote_tls(TLS.validFrom), to } : undefined;
  });

const forDiagnostics = ({ idf }: BoardHardware, host: BoardHost): AppHost["health"] => {
  return { freeMemory: () => host.leastFreeMemory(), memory: () => memoryOf(idf, host) };
};

const observeAgent = (
  agent: Agent,
  host: BoardHost,
  wifi: Wifi,
  time: TimeOfDay,
  baseUrl: string,
  sleeps: boolean,
): void => {
  publishHealth(agent, host, sleeps);
  let cancel = (): void => {};
  const rejoinLater = (): void => {
    cancel();
    cancel = host.clock.timer(REJOIN_MS, () => {
      wifi.rejoin();
      rejoinLater();
    });
  };
  let isOffline = false;
  agent.on("offline", () => {
    if (!isOffline) rejoinLater();
    isOffline = true;
  });
  agent.on("online", () => {
    isOffline = false;
    cancel();
  });
  if (!baseUrl.startsWith("https:")) return;
  agent.on("online", () => time.platformAnswered(agent.platformTime));
  agent.on("delivered", () => time.platformAnswered(agent.platformTime));
};
