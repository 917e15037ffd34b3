// Pins of each chip: which can have a button, measure a voltage or be an output, and those of the
// first serial line.

type Span = readonly [first: number, last: number];

interface ChipPins {
  readonly name: string;
  readonly count: number;
  /** Pins of the first serial line. */
  readonly receive: number;
  readonly transmit: number;
  /** Those of ADC1. ADC2 does not measure while Wi-Fi is on. */
  readonly analog: Span;
  /** Pins that decide at power-on how the chip starts. */
  readonly strapping: readonly number[];
  readonly flash: Span;
  readonly usb?: Span;
  /** They have no output either. */
  readonly noPullUp?: Span;
}

const FLASH = "belongs to the flash";
const NO_PIN = "is not a pin of this chip";
const NO_PULL_UP = "has no pull-up";

/** Of hardware/pins.json; SDA and SCL are outputs, too. */
const OUTPUTS: readonly string[] = ["switch", "data", "clock"];

/** By ESP-IDF's CONFIG_IDF_FIRMWARE_CHIP_ID, from the chips' data sheets. */
const PINS: Readonly<Record<number, ChipPins>> = {
  0: {
    ...{ name: "ESP32", count: 40, receive: 3, transmit: 1, analog: [32, 39] },
    ...{ strapping: [0, 2, 5, 12, 15], flash: [6, 11], noPullUp: [34, 39] },
  },
  2: {
    ...{ name: "ESP32-S2", count: 47, receive: 44, transmit: 43, analog: [1, 10] },
    ...{ strapping: [0, 45, 46], flash: [26, 32], usb: [19, 20] },
  },
  5: {
    ...{ name: "ESP32-C3", count: 22, receive: 20, transmit: 21, analog: [0, 4] },
    ...{ strapping: [2, 8, 9], flash: [12, 17], usb: [18, 19] },
  },
  9: {
    ...{ name: "ESP32-S3", count: 49, receive: 44, transmit: 43, analog: [1, 10] },
    ...{ strapping: [0, 3, 45, 46], flash: [26, 32], usb: [19, 20] },
  },
  13: {
    ...{ name: "ESP32-C6", count: 31, receive: 17, transmit: 16, analog: [0, 6] },
    ...{ strapping: [4, 5, 8, 9, 15], flash: [24, 30], usb: [12, 13] },
  },
};

const isIn = (pin: number, span: Span | undefined): boolean =>
  span !== undefined && pin >= span[0] && pin <= span[1];

/**
 * Why a pin cannot have a button; undefined if it can or the chip is unknown. `serial`: the line is
 * in use.
 */
export const refusePin = (chip: number, pin: unknown, serial: boolean): string | undefined => {
  const pins = PINS[chip];
  if (!pins) return undefined;
  if (typeof pin !== "number" || !Number.isInteger(pin) || pin < 0 || pin >= pins.count) return NO_PIN;
  if (serial && (pin === pins.receive || pin === pins.transmit)) return "is the serial line";
  if (pins.strapping.includes(pin)) return "decides at power-on how the chip starts";
  if (isIn(pin, pins.flash)) return FLASH;
  if (isIn(pin, pins.usb)) return "is the USB line";
  return isIn(pin, pins.noPullUp) ? NO_PULL_UP : undefined;
};

/**
 * Why a pin cannot be what its name in hardware/pins.json says; undefined if it can, or the chip or
 * the name is unknown.
 */
export const refuseRole = (chip: number, name: string, pin: number): string | undefined => {
  const why = refusePin(chip, pin, false);
  if (why === NO_PIN || why === FLASH) return why;
  const pins = PINS[chip];
  if (name === "analog" && pins && !isIn(pin, pins.analog))
    return `cannot measure a voltage; pins ${pins.analog.join(" to ")} can`;
  return OUTPUTS.includes(name) && why === NO_PULL_UP ? "has no output" : undefined;
};

/** Undefined if unknown. */
export const serialPins = (chip: number): Pick<ChipPins, "receive" | "transmit"> | undefined => {
  return PINS[chip];
};

/** As spelled by Espressif. */
export const chipName = (chip: number): string => PINS[chip]?.name ?? "ESP32 family";
