// Known boards for `mote new --board`, `mote esp32 --board` and the flash page.
// Pins are from each maker's pinout and untested; docs/reference/boards.md has the measurements.

export interface Board {
  /** For the command line. */
  readonly name: string;
  /** As its maker sells it. */
  readonly title: string;
  /** As ESP-IDF names it. */
  readonly chip: string;
  /** As the SDK's mcconfig names it. */
  readonly target: string;
  /** Targets of the SDK for the same board with its console on another connector. */
  readonly also: readonly string[];
  /** MB. Where a board is sold with several sizes, the smallest. */
  readonly flash: 4 | 8 | 16;
  readonly pins: Pins;
}

export interface Pins {
  /** SDA of the I2C connector or header. */
  readonly data: number;
  /** SCL. */
  readonly clock: number;
  /** An output: the board's LED where it has a plain one, otherwise a free pin. */
  readonly switch: number;
  /** An input of ADC1, which works beside Wi-Fi. A board with few pins has it at SDA or SCL. */
  readonly analog: number;
  /** Input with pull-up for a button or 1-Wire sensor; no strapping pin. May be SDA or SCL. */
  readonly input: number;
}

type BoardRow = readonly [
  ...[name: string, title: string, chip: string, target: string, flash: Board["flash"]],
  pins: readonly [data: number, clock: number, output: number, analog: number, input: number],
];

/** Where boards share a target, the first is the one that a project without `--board` gets. */
const ROWS: readonly BoardRow[] = [
  ["esp32-devkitc", "Espressif ESP32-DevKitC", "esp32", "esp32/nodemcu", 4, [21, 22, 2, 34, 21]],
  ["nodemcu-32s", "Ai-Thinker NodeMCU-32S", "esp32", "esp32/nodemcu", 4, [21, 22, 2, 34, 21]],
  ["doit-devkit-v1", "DOIT ESP32 DevKit V1", "esp32", "esp32/nodemcu", 4, [21, 22, 2, 34, 21]],
  ["lolin-d32", "WEMOS LOLIN D32", "esp32", "esp32/nodemcu", 4, [21, 22, 5, 35, 21]],
  ["huzzah32", "Adafruit HUZZAH32 Feather", "esp32", "esp32/nodemcu", 4, [23, 22, 13, 35, 23]],
  ["esp32-thing", "SparkFun ESP32 Thing", "esp32", "esp32/esp32_thing", 4, [21, 22, 5, 34, 21]],
  ["m5stack-core", "M5Stack Core (Basic, Gray)", "esp32", "esp32/m5stack", 16, [21, 22, 26, 35, 21]],
  ["m5atom-lite", "M5Stack ATOM Lite", "esp32", "esp32/m5atom_lite", 4, [26, 32, 22, 33, 26]],
  ["esp32-c3-devkitm-1", "Espressif ESP32-C3-DevKitM-1", "esp32c3", "esp32/esp32c3", 4, [2, 3, 10, 4, 3]],
  [
    "esp32-c3-devkit-rust-1",
    "Espressif ESP32-C3-DevKit-RUST-1",
    "esp32c3",
    "esp32/c3_devkit_rust",
    4,
    [10, 8, 7, 3, 10],
  ],
  ["lolin-c3-mini", "WEMOS LOLIN C3 mini", "esp32c3", "esp32/lolin_c3mini", 4, [8, 10, 7, 3, 10]],
  ["xiao-esp32c3", "Seeed Studio XIAO ESP32C3", "esp32c3", "esp32/xiao_esp32c3", 4, [6, 7, 10, 3, 6]],
  ["qtpy-esp32c3", "Adafruit QT Py ESP32-C3", "esp32c3", "esp32/qtpyc3", 4, [5, 6, 4, 3, 5]],
  ["esp32-c6-devkitc-1", "Espressif ESP32-C6-DevKitC-1", "esp32c6", "esp32/esp32c6", 8, [6, 7, 10, 2, 6]],
  ["m5nanoc6", "M5Stack NanoC6", "esp32c6", "esp32/m5nanoc6", 4, [2, 1, 7, 1, 2]],
  ["esp32-s3-devkitc-1", "Espressif ESP32-S3-DevKitC-1", "esp32s3", "esp32/esp32s3", 8, [4, 5, 6, 7, 4]],
  ["xiao-esp32s3", "Seeed Studio XIAO ESP32S3", "esp32s3", "esp32/xiao_esp32s3", 8, [5, 6, 21, 1, 5]],
  ["qtpy-esp32s3", "Adafruit QT Py ESP32-S3", "esp32s3", "esp32/qtpys3", 4, [41, 40, 18, 8, 41]],
  ["m5atom-s3", "M5Stack AtomS3", "esp32s3", "esp32/m5atom_s3", 8, [2, 1, 5, 6, 2]],
  ["lolin-s2-mini", "WEMOS LOLIN S2 mini", "esp32s2", "esp32/lolin_s2mini", 4, [33, 35, 15, 3, 33]],
];

const ALSO: Readonly<Record<string, readonly string[]>> = {
  "esp32-c3-devkitm-1": ["esp32/esp32c3_cdc"],
  "esp32-c6-devkitc-1": ["esp32/esp32c6_cdc"],
  "esp32-s3-devkitc-1": ["esp32/esp32s3_cdc", "esp32/esp32s3_usb"],
};

export const BOARDS: readonly Board[] = ROWS.map(([name, title, chip, target, flash, pins]) => {
  const [data, clock, output, analog, input] = pins;
  const also = ALSO[name] ?? [];
  return { name, title, chip, target, also, flash, pins: { data, clock, switch: output, analog, input } };
});

export const BOARD_NAMES: readonly string[] = BOARDS.map(({ name }) => name);

export const boardOf = (name: string): Board | undefined => BOARDS.find((board) => board.name === name);
