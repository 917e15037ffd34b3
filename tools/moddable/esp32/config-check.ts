// The configuration that mcconfig merged, judged at build by the words that the board would have for it.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { asIfGiven, checkCommission } from "../../../hosts/esp32/commissioning/check-configuration.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { isIncomplete } from "../../../hosts/shared/commissioning/built-in-configuration.js";
import { checkOptions } from "../../../src/agent/options/options.js";
import type { Chip } from "./chips.js";

/** What manifest-lean.json leaves out, by its options. */
const NOT_LEAN = ["firmware", "cycle"] as const;

/** All that is wrong with the configuration in a build's folder; no value is quoted. */
export async function checkConfig(directory: string, chip: Chip): Promise<string[]> {
  const file = join(directory, "mc.config.js");
  // A module is read once: a build may come after a build.
  const { default: config } = await import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`);
  const makefile = readFileSync(join(directory, "makefile"), "utf8");
  return flawsOf(config, chip.id, {
    lean: /mote-lean\.js/.test(makefile),
    asks: /mote-commission\.js/.test(makefile),
  });
}

/** `lean`: without updates and cycles. `asks`: the owner gives what is missing. */
export function flawsOf(
  config: Readonly<Record<string, unknown>>,
  chip: number,
  { lean, asks }: { lean: boolean; asks: boolean },
): string[] {
  const wrong: string[] = [];
  const commission = asks ? checkCommission(config.commission, chip) : undefined;
  if (commission !== undefined) wrong.push(commission);
  for (const name of lean ? NOT_LEAN : [])
    if (config[name] !== undefined) wrong.push(`config.${name}: the lean build has no ${name}`);
  if (!asks && isIncomplete(config) && config.wifi !== false)
    wrong.push(
      "there is no network, no platform, or no token or provisioning key, and no mote/commission to ask for it",
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
