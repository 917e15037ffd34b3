// What is in an image, by part, from the linker's map: ESP-IDF's own tool reads it.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { number, share } from "../figures.js";
import { run } from "../program.js";
import { readRom, romBytes } from "../rom.js";
import { type Sdk, SdkError } from "../sdk.js";
import type { Image } from "./esp32.js";
import { imageRoom, readPartitions } from "./partitions.js";

/** Archives by what they are for; the first that fits. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ["Mote, the SDK's modules and the engine", /xs_esp32\w*\.a$|libmain\.a$/],
  [
    "Wi-Fi",
    /lib(?:net80211|pp|core|phy|coexist|mesh|smartconfig|wapi|espnow|esp_wifi|wpa_supplicant|esp_coex|esp_phy|rtc|btbb)\.a$/,
  ],
  ["lwIP and network interfaces", /lib(?:lwip|esp_netif|esp_eth)\.a$/],
  ["mbedTLS", /lib(?:mbed[\w-]*|tfpsacrypto|everest|p256m|esp-tls|builtin)\.a$/],
  ["C library", /lib(?:c|m|gcc|nosys|stdc\+\+|newlib|esp_libc)(?:_nano)?\.a$/],
];
const REST = "ESP-IDF";

/** One archive as esp_idf_size says it. */
interface Archive {
  readonly size: number;
}

export async function reportImage(sdk: Sdk, image: Image): Promise<{ lines: string[]; wrong: string[] }> {
  const bytes = statSync(join(image.folder, "xs_esp32.bin")).size;
  const partitions = readFileSync(join(image.folder, "..", "partitions.csv"), "utf8");
  const room = imageRoom(readPartitions(partitions));
  const parts = partsOf(await archives(sdk, image));
  const rom = romBytes(readRom(readFileSync(join(image.directory, "mc.xs.c"), "utf8")));
  const lines = [
    `image                     ${number(bytes)} bytes of a slot's ${number(room)}: ${share(room - bytes, room)} free`,
    ...[...parts].map(([name, size]) => `  ${name.padEnd(40)}${number(size)}`),
    `  of the first: preloaded JavaScript      ${number(rom)}`,
  ];
  const wrong =
    bytes > room ? [`the image does not fit its slot: ${number(bytes)} of ${number(room)} bytes`] : [];
  return { lines, wrong };
}

async function archives(sdk: Sdk, image: Image): Promise<Map<string, number>> {
  const words = ["-m", "esp_idf_size", "--format", "json2", "--archives", join(image.folder, "xs_esp32.map")];
  const said = await run("python", words, image.folder, sdk.env);
  let found: Record<string, Archive>;
  try {
    found = JSON.parse(said.slice(said.indexOf("{")));
  } catch {
    throw new SdkError(`unexpected output of esp_idf_size:\n${said.slice(0, 500)}`);
  }
  return new Map(Object.entries(found).map(([path, { size }]) => [path, size]));
}

function partsOf(sizes: ReadonlyMap<string, number>): Map<string, number> {
  const parts = new Map<string, number>([...PARTS.map(([name]) => [name, 0] as const), [REST, 0]]);
  for (const [path, size] of sizes) {
    const name = PARTS.find(([, pattern]) => pattern.test(path))?.[0] ?? REST;
    parts.set(name, (parts.get(name) ?? 0) + size);
  }
  return parts;
}
