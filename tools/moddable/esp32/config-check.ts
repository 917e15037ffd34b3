// Checks the configuration merged by mcconfig at build time, with the board's own messages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { asIfGiven, checkCommission } from "../../../hosts/esp32/commissioning/check-configuration.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { checkOptions } from "../../../src/agent/options/options.js";
import type { Chip } from "./chips.js";

/** All that is wrong with the configuration in a build's folder; no value is quoted. */
export function checkConfig(directory: string, chip: Chip): string[] {
  const { config, modules } = JSON.parse(readFileSync(join(directory, "manifest_flat.json"), "utf8")) as Flat;
  return problemsOf(config, chip.id, "mote/commission" in modules);
}

/** What mcconfig writes of all manifests together. */
interface Flat {
  readonly config: Readonly<Record<string, unknown>>;
  readonly modules: Readonly<Record<string, unknown>>;
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
  const settings = readConfig(asIfGiven(config));
  if (Array.isArray(settings)) return [...wrong, ...settings];
  try {
    checkOptions(settings.options);
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  return wrong;
}
