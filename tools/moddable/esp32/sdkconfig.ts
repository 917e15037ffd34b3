// ESP-IDF's options as the SDK merges them: lines of NAME=VALUE, the last one counts.
import { SECURE_TABLE_OFFSET } from "./partitions.js";

/** What must hold for an update to be safe; an option that is off has "n", nothing, or no line. */
export const REQUIRED: Readonly<Record<string, string>> = {
  CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE: "y",
  CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS: "n",
  CONFIG_ESP_TASK_WDT_EN: "y",
  CONFIG_ESP_TASK_WDT_INIT: "y",
  CONFIG_ESP_TASK_WDT_PANIC: "y",
  CONFIG_ESP_TASK_WDT_CHECK_IDLE_TASK_CPU0: "n",
  CONFIG_PARTITION_TABLE_CUSTOM: "y",
};

export const ENCRYPTIONS = ["development", "release"] as const;

/** What protects the secrets in a board's flash. Both burn fuses of the chip for good. */
export interface Protection {
  /**
   * Encrypts flash and NVS. USB flashing then works a few times more (`development`) or never
   * (`release`).
   */
  readonly encrypt?: (typeof ENCRYPTIONS)[number] | undefined;
  /** PEM file of the RSA-3072 key; the chip then starts only signed images. */
  readonly secureBoot?: string | undefined;
}

/** ESP-IDF's options for `protection`; empty without any. */
export function protectionOptions({ encrypt, secureBoot }: Protection, chip: string): string {
  if (encrypt === undefined && secureBoot === undefined) return "";
  const lines = [`CONFIG_PARTITION_TABLE_OFFSET=0x${SECURE_TABLE_OFFSET.toString(16)}`];
  if (encrypt !== undefined)
    lines.push(
      "CONFIG_SECURE_FLASH_ENC_ENABLED=y",
      `CONFIG_SECURE_FLASH_ENCRYPTION_MODE_${encrypt.toUpperCase()}=y`,
      "CONFIG_NVS_ENCRYPTION=y",
      "CONFIG_NVS_SEC_KEY_PROTECT_USING_FLASH_ENC=y",
    );
  if (secureBoot !== undefined)
    lines.push(
      "CONFIG_SECURE_BOOT=y",
      "CONFIG_SECURE_BOOT_V2_ENABLED=y",
      "CONFIG_SECURE_BOOT_BUILD_SIGNED_BINARIES=y",
      `CONFIG_SECURE_BOOT_SIGNING_KEY="${secureBoot}"`,
      // Otherwise ESP-IDF leaves the boot loader out of what is flashed, and a new board starts
      // nothing.
      "CONFIG_SECURE_BOOT_FLASH_BOOTLOADER_DEFAULT=y",
      // Earlier chips cannot verify RSA signatures.
      ...(chip === "esp32" ? ["CONFIG_ESP32_REV_MIN_3=y"] : []),
    );
  return `${lines.join("\n")}\n`;
}

const OPTION = /^(CONFIG_\w+)=(.*)$/;
const UNSET = /^# (CONFIG_\w+) is not set$/;
const FLASH = /^CONFIG_ESPTOOLPY_FLASHSIZE_(\d+)MB$/;

export function readOptions(text: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ""] = OPTION.exec(line) ?? [];
    const [, unset] = UNSET.exec(line) ?? [];
    if (name !== undefined) options.set(name, value);
    else if (unset !== undefined) options.set(unset, "n");
  }
  return options;
}

/** What is not as it must be, by name. */
export function checkOptions(text: string): string[] {
  const options = readOptions(text);
  return Object.entries(REQUIRED)
    .filter(([name, wanted]) => (options.get(name) || "n") !== wanted)
    .map(([name, wanted]) => `${name} is ${options.get(name) || "n"}, not ${wanted}`);
}

/**
 * Those of `ours` that ESP-IDF's configuration step did not take, by name: an option that another
 * one excludes, or that no longer exists. `result`: the sdkconfig that the step wrote.
 */
export function ignoredOptions(ours: string, result: string): string[] {
  const options = readOptions(result);
  return [...readOptions(ours)]
    .filter(([name, wanted]) => (options.get(name) || "n") !== (wanted || "n"))
    .map(([name, wanted]) => `${name} is ${options.get(name) || "n"}, not ${wanted || "n"}`);
}

/** The flash that the options speak of, in bytes, if they do. */
export function flashBytes(text: string): number | undefined {
  for (const [name, value] of readOptions(text)) {
    const [, megabytes] = FLASH.exec(name) ?? [];
    if (megabytes !== undefined && value === "y") return Number(megabytes) * 1024 * 1024;
  }
  return undefined;
}

/** The target's options without its flash size, then ours: the last line counts. */
export function mergeOptions(target: string, ours: string): string {
  const kept = target.split(/\r?\n/).filter((line) => !FLASH.test(OPTION.exec(line)?.[1] ?? ""));
  return `${kept.join("\n").trimEnd()}\n${ours}`;
}
