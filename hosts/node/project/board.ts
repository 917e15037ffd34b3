// `mote/board`, `mote/commission` and `mote/diagnostics` of a board's project that runs on Node.
import type { Agent, FirmwareOptions } from "../../../src/index.js";
import type { AppHost } from "../../device/application.js";
import { type FirmwareFunctions, joinExtras, type Program } from "../../device/extras.js";

let machine: { agent: Agent; host: AppHost } | undefined;
let functions: FirmwareFunctions = {};
let sample: { taken: unknown } | undefined;

/** See hosts/esp32/types.d.ts. */
export function start(program: Program<object>): Agent | undefined {
  joinExtras(program);
  if (!machine) throw new Error("start() was called before the default function of main.ts");
  functions = program.firmware ?? {};
  sample = { taken: program.application(machine.agent, machine.host) };
  return machine.agent;
}

/** The default function of the image: calls that of the project's main. */
export function setUp(main: unknown, agent: Agent, host: AppHost): unknown {
  if (typeof main !== "function") throw new TypeError("main exports no default function");
  machine = { agent, host };
  main();
  if (!sample) throw new Error("main calls no start() of mote/board");
  return sample.taken;
}

/** The firmware options of the image. The program's functions are known once main ran. */
export const firmwareOf = (config: FirmwareOptions): FirmwareOptions => ({
  ...config,
  allow: (update) => functions.allow?.(update) ?? true,
  selfTest: () => functions.selfTest?.() ?? true,
});

/** `mote run` has diagnostics itself, and takes the settings from its options. */
export const commission = {};
export const diagnostics = {};
