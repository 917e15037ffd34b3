// Pins of each chip: which can have a button, measure a voltage or be an output, and those of the
// first serial line.

interface ChipPins {
  readonly name: string;
  readonly count: number;
  /** Pins of the first serial line. */
  readonly receive: number;
  readonly transmit: number;
  /** First and last of ADC1. ADC2 does not measure while Wi-Fi is on. */
  readonly analog: readonly [from: number, to: number];
  /** Why its other pins cannot have a button, from the chip's data sheet. */
  readonly refused: readonly (readonly [why: string, from: number, to?: number])[];
}

const STRAPPING = "decides at power-on how the chip starts";
const FLASH = "belongs to the flash";
const NO_PIN = "is not a pin of this chip";
/** Pins without a pull-up have no output either. */
const NO_PULL_UP = "has no pull-up";
const USB = "is the USB line";

/** Of hardware/pins.json; SDA and SCL are outputs, too. */
const OUTPUTS: readonly string[] = ["switch", "data", "clock"];

/** By ESP-IDF's CONFIG_IDF_FIRMWARE_CHIP_ID. */
const PINS: Readonly<Record<number, ChipPins>> = {
  0: {
    name: "ESP32",
    count: 40,
    receive: 3,
    transmit: 1,
    analog: [32, 39],
    refused: [
      [STRAPPING, 0],
      [STRAPPING, 2],
      [STRAPPING, 5],
      [STRAPPING, 12],
      [STRAPPING, 15],
      [FLASH, 6, 11],
      [NO_PULL_UP, 34, 39],
    ],
  },
  2: {
    name: "ESP32-S2",
    count: 47,
    receive: 44,
    transmit: 43,
    analog: [1, 10],
    refused: [
      [STRAPPING, 0],
      [STRAPPING, 45, 46],
      [USB, 19, 20],
      [FLASH, 26, 32],
    ],
  },
  5: {
    name: "ESP32-C3",
    count: 22,
    receive: 20,
    transmit: 21,
    analog: [0, 4],
    refused: [
      [STRAPPING, 2],
      [STRAPPING, 8, 9],
      [FLASH, 12, 17],
      [USB, 18, 19],
    ],
  },
  9: {
    name: "ESP32-S3",
    count: 49,
    receive: 44,
    transmit: 43,
    analog: [1, 10],
    refused: [
      [STRAPPING, 0],
      [STRAPPING, 3],
      [STRAPPING, 45, 46],
      [USB, 19, 20],
      [FLASH, 26, 32],
    ],
  },
  13: {
    name: "ESP32-C6",
    count: 31,
    receive: 17,
    transmit: 16,
    analog: [0, 6],
    refused: [
      [STRAPPING, 4, 5],
      [STRAPPING, 8, 9],
      [STRAPPING, 15],
      [USB, 12, 13],
      [FLASH, 24, 30],
    ],
  },
};

/**
 * Why a pin cannot have a button; undefined if it can or the chip is unknown. `serial`: the line is
 * in use.
 */
export const refusePin = (chip: number, pin: unknown, serial: boolean): string | undefined => {
  const pins = PINS[chip];
  if (!pins) return undefined;
  if (typeof pin !== "number" || !Number.isInteger(pin) || pin < 0 || pin >= pins.count) return NO_PIN;
  if (serial && (pin === pins.receive || pin === pins.transmit)) return "is the serial line";
  return pins.refused.find(([, from, to = from]) => pin >= from && pin <= to)?.[0];
};

/**
 * Why a pin cannot be what its name in hardware/pins.json says; undefined if it can, or the chip or
 * the name is unknown.
 */
export const refuseRole = (chip: number, name: string, pin: number): string | undefined => {
  const why = refusePin(chip, pin, false);
  if (why === NO_PIN || why === FLASH) return why;
  const pins = PINS[chip];
  if (name === "analog" && pins && (pin < pins.analog[0] || pin > pins.analog[1]))
    return `cannot measure a voltage; pins ${pins.analog.join(" to ")} can`;
  return OUTPUTS.includes(name) && why === NO_PULL_UP ? "has no output" : undefined;
};

/** Undefined if unknown. */
export const serialPins = (chip: number): Pick<ChipPins, "receive" | "transmit"> | undefined => {
  return PINS[chip];
};

/** As spelled by Espressif. */
export const chipName = (chip: number): string => PINS[chip]?.name ?? "ESP32 family";
