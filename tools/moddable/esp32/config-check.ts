// Checks the configuration merged by mcconfig at build time, with the board's own messages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { asIfGiven, checkCommission } from "../../../hosts/esp32/commissioning/check-configuration.js";
import { refuseRole } from "../../../hosts/esp32/commissioning/pins.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { checkOptions } from "../../../src/agent/options.js";
import type { FirmwareOptions } from "../../../src/index.js";
import type { Chip } from "./chips.js";

/** All that is wrong with the configuration in a build's folder; no value is quoted. */
export function checkConfig(directory: string, chip: Chip): string[] {
  const { config, modules } = flatManifest(directory);
  return problemsOf(config, chip.id, "mote/commission" in modules);
}

/** What is insecure in the configuration, although it is valid. */
export const warningsOf = (directory: string): string[] => insecurities(flatManifest(directory).config);

/** True for an application with Piu, whose main module the SDK can't preload. */
export const usesPiu = (directory: string): boolean => "piu/MC" in flatManifest(directory).modules;

const flatManifest = (directory: string): Flat =>
  JSON.parse(readFileSync(join(directory, "manifest_flat.json"), "utf8"));

/** What mcconfig writes of all manifests together. */
interface Flat {
  readonly config: Readonly<Record<string, unknown>>;
  readonly modules: Readonly<Record<string, unknown>>;
}

export function insecurities({ firmware }: Readonly<Record<string, unknown>>): string[] {
  const { allowHttp, publicKey } = (firmware ?? {}) as Partial<FirmwareOptions>;
  return allowHttp === true && publicKey === undefined
    ? [
        "config.firmware.allowHttp without publicKey: anyone in the network path can replace this board's program. Sign updates (mote sign) and set publicKey, or use https.",
      ]
    : [];
}

/** `asks`: the owner enters missing settings. */
export function problemsOf(config: Readonly<Record<string, unknown>>, chip: number, asks: boolean): string[] {
  const wrong: string[] = [];
  const commission = asks ? checkCommission(config.commission, chip) : undefined;
  if (commission !== undefined) wrong.push(commission);
  if (!asks && isIncomplete(config) && config.wifi !== false)
    wrong.push(
      "the network, the platform, or the token or provisioning key is missing, and mote/commission is not included to ask for it",
    );
  wrong.push(...pinProblems(config.pins, chip));
  const settings = readConfig(asIfGiven(config));
  if (Array.isArray(settings)) return [...wrong, ...settings];
  try {
    checkOptions(settings.options);
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  return wrong;
}

/** Of hardware/pins.json: numbers that the chip lacks, or that cannot do what their names say. */
function pinProblems(pins: unknown, chip: number): string[] {
  return Object.entries(pins ?? {}).flatMap(([name, pin]) => {
    const why = typeof pin === "number" ? refuseRole(chip, name, pin) : undefined;
    return why === undefined ? [] : [`config.pins.${name}: pin ${pin} ${why}`];
  });
}
