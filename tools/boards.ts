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
  readonly also?: readonly string[];
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

const pins = (data: number, clock: number, output: number, analog: number, input: number): Pins => ({
  data,
  clock,
  switch: output,
  analog,
  input,
});

/** Where boards share a target, the first is the one that a project without `--board` gets. */
export const BOARDS: readonly Board[] = [
  {
    name: "esp32-devkitc",
    title: "Espressif ESP32-DevKitC",
    chip: "esp32",
    target: "esp32/nodemcu",
    flash: 4,
    pins: pins(21, 22, 2, 34, 21),
  },
  {
    name: "nodemcu-32s",
    title: "Ai-Thinker NodeMCU-32S",
    chip: "esp32",
    target: "esp32/nodemcu",
    flash: 4,
    pins: pins(21, 22, 2, 34, 21),
  },
  {
    name: "doit-devkit-v1",
    title: "DOIT ESP32 DevKit V1",
    chip: "esp32",
    target: "esp32/nodemcu",
    flash: 4,
    pins: pins(21, 22, 2, 34, 21),
  },
  {
    name: "lolin-d32",
    title: "WEMOS LOLIN D32",
    chip: "esp32",
    target: "esp32/nodemcu",
    flash: 4,
    pins: pins(21, 22, 5, 35, 21),
  },
  {
    name: "huzzah32",
    title: "Adafruit HUZZAH32 Feather",
    chip: "esp32",
    target: "esp32/nodemcu",
    flash: 4,
    pins: pins(23, 22, 13, 35, 23),
  },
  {
    name: "esp32-thing",
    title: "SparkFun ESP32 Thing",
    chip: "esp32",
    target: "esp32/esp32_thing",
    flash: 4,
    pins: pins(21, 22, 5, 34, 21),
  },
  {
    name: "m5stack-core",
    title: "M5Stack Core (Basic, Gray)",
    chip: "esp32",
    target: "esp32/m5stack",
    flash: 16,
    pins: pins(21, 22, 26, 35, 21),
  },
  {
    name: "m5atom-lite",
    title: "M5Stack ATOM Lite",
    chip: "esp32",
    target: "esp32/m5atom_lite",
    flash: 4,
    pins: pins(26, 32, 22, 33, 26),
  },
  {
    name: "esp32-c3-devkitm-1",
    title: "Espressif ESP32-C3-DevKitM-1",
    chip: "esp32c3",
    target: "esp32/esp32c3",
    also: ["esp32/esp32c3_cdc"],
    flash: 4,
    pins: pins(2, 3, 10, 4, 3),
  },
  {
    name: "esp32-c3-devkit-rust-1",
    title: "Espressif ESP32-C3-DevKit-RUST-1",
    chip: "esp32c3",
    target: "esp32/c3_devkit_rust",
    flash: 4,
    pins: pins(10, 8, 7, 3, 10),
  },
  {
    name: "lolin-c3-mini",
    title: "WEMOS LOLIN C3 mini",
    chip: "esp32c3",
    target: "esp32/lolin_c3mini",
    flash: 4,
    pins: pins(8, 10, 7, 3, 10),
  },
  {
    name: "xiao-esp32c3",
    title: "Seeed Studio XIAO ESP32C3",
    chip: "esp32c3",
    target: "esp32/xiao_esp32c3",
    flash: 4,
    pins: pins(6, 7, 10, 3, 6),
  },
  {
    name: "qtpy-esp32c3",
    title: "Adafruit QT Py ESP32-C3",
    chip: "esp32c3",
    target: "esp32/qtpyc3",
    flash: 4,
    pins: pins(5, 6, 4, 3, 5),
  },
  {
    name: "esp32-c6-devkitc-1",
    title: "Espressif ESP32-C6-DevKitC-1",
    chip: "esp32c6",
    target: "esp32/esp32c6",
    also: ["esp32/esp32c6_cdc"],
    flash: 8,
    pins: pins(6, 7, 10, 2, 6),
  },
  {
    name: "m5nanoc6",
    title: "M5Stack NanoC6",
    chip: "esp32c6",
    target: "esp32/m5nanoc6",
    flash: 4,
    pins: pins(2, 1, 7, 1, 2),
  },
  {
    name: "esp32-s3-devkitc-1",
    title: "Espressif ESP32-S3-DevKitC-1",
    chip: "esp32s3",
    target: "esp32/esp32s3",
    also: ["esp32/esp32s3_cdc", "esp32/esp32s3_usb"],
    flash: 8,
    pins: pins(4, 5, 6, 7, 4),
  },
  {
    name: "xiao-esp32s3",
    title: "Seeed Studio XIAO ESP32S3",
    chip: "esp32s3",
    target: "esp32/xiao_esp32s3",
    flash: 8,
    pins: pins(5, 6, 21, 1, 5),
  },
  {
    name: "qtpy-esp32s3",
    title: "Adafruit QT Py ESP32-S3",
    chip: "esp32s3",
    target: "esp32/qtpys3",
    flash: 4,
    pins: pins(41, 40, 18, 8, 41),
  },
  {
    name: "m5atom-s3",
    title: "M5Stack AtomS3",
    chip: "esp32s3",
    target: "esp32/m5atom_s3",
    flash: 8,
    pins: pins(2, 1, 5, 6, 2),
  },
  {
    name: "lolin-s2-mini",
    title: "WEMOS LOLIN S2 mini",
    chip: "esp32s2",
    target: "esp32/lolin_s2mini",
    flash: 4,
    pins: pins(33, 35, 15, 3, 33),
  },
];

export const BOARD_NAMES: readonly string[] = BOARDS.map(({ name }) => name);

export const boardOf = (name: string): Board | undefined => BOARDS.find((board) => board.name === name);
