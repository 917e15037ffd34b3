// Makes the NVS of a device before its first start, with ESP-IDF's own tool.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABEL, type SettingsHost, storeSettings } from "../../../extras/commissioning/stored-settings.js";
import { AGENT, NAME, OWN } from "../../../hosts/esp32/store.js";
import { digest } from "../../../hosts/node/digest.js";
import { onPath, tryRun } from "../program.js";
import { SdkError } from "../sdk.js";
import type { FactoryDevice } from "./device-list.js";

const INSTALL = "ESP-IDF brings it along, or: python3 -m pip install esp-idf-nvs-partition-gen";

/** What makes NVS images: a program and its first words. Throws SdkError if there is none. */
export async function findNvsTool(env: NodeJS.ProcessEnv = process.env): Promise<readonly string[]> {
  const { IDF_PYTHON_ENV_PATH: idf } = env;
  const pythons = [...(idf ? [join(idf, "bin", "python")] : []), "python3", "python"];
  for (const python of pythons) {
    if (!existsSync(python) && !onPath(python, env)) continue;
    const tool = [python, "-m", "esp_idf_nvs_partition_gen"];
    if ((await tryRun([...tool, "--help"], env)).code === 0) return tool;
  }
  throw new SdkError(
    `nvs_partition_gen is missing: found no Python with esp_idf_nvs_partition_gen. ${INSTALL}`,
  );
}

/** An NVS image of `bytes`. Throws SdkError without the tool's output: it may hold secrets. */
export async function makeNvs(
  tool: readonly string[],
  device: FactoryDevice,
  bytes: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Buffer> {
  // For this user alone, as files in it have secrets.
  const folder = mkdtempSync(join(tmpdir(), "mote-factory-"));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", clean);
  const [rows, image] = [join(folder, "nvs.csv"), join(folder, "nvs.bin")];
  try {
    writeFileSync(rows, rowsFor(device), { mode: 0o600 });
    const { code } = await tryRun([...tool, "generate", rows, image, `0x${bytes.toString(16)}`], env);
    if (code !== 0 || !existsSync(image) || statSync(image).size !== bytes)
      throw new SdkError(`nvs_partition_gen failed for ${device.name} (exit code ${code})`);
    return readFileSync(image);
  } finally {
    process.off("exit", clean);
    clean();
  }
}

/** As the tool reads it. */
export function rowsFor(device: FactoryDevice): string {
  const lines = ["key,type,encoding,value"];
  for (const [space, values] of storesOf(device)) {
    if (values.size === 0) continue;
    lines.push(`${space},namespace,,`);
    for (const [key, value] of values)
      lines.push(`${key},data,base64,${Buffer.from(value).toString("base64")}`);
  }
  return `${lines.join("\n")}\n`;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the device finds at its first start, by name space and key. */
export function storesOf({ name, label, values }: FactoryDevice): Map<string, Map<string, Uint8Array>> {
  const [agent, own] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  const keeper: SettingsHost = {
    store: {
      get: (key) => agent.get(key),
      set: (key, value) => {
        agent.set(key, value.slice());
        return true;
      },
      delete: (key) => {
        agent.delete(key);
        return true;
      },
    },
    digest,
    encode,
    decode: (bytes) => new TextDecoder().decode(bytes),
    log: () => {},
  };
  if (Object.values(values).some((value) => value !== undefined)) storeSettings(keeper, values, false);
  own.set(NAME, encode(name));
  if (label !== undefined) own.set(LABEL, encode(label));
  return new Map([
    [AGENT, agent],
    [OWN, own],
  ]);
}
