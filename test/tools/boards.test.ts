import test from "ava";
import { refusePin } from "../../hosts/esp32/commissioning/pins.js";
import { BOARDS } from "../../tools/boards.js";
import { CHIPS, chipOf } from "../../tools/moddable/esp32/chips.js";
import { FLASH_SIZES } from "../../tools/moddable/esp32/esp32.js";
import { findSdk, type Sdk } from "../../tools/moddable/sdk.js";

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);
/** Inputs of ADC1, by the data sheets and the SDK's driver. */
const ADC1: Record<string, number[]> = {
  esp32: range(32, 39),
  esp32c3: range(0, 4),
  esp32c6: range(0, 6),
  esp32s2: range(1, 10),
  esp32s3: range(1, 10),
};

/** An output and a bus with pull-ups of its own may use these pins: no button may. */
const BUTTONS_ONLY = /how the chip starts|no pull-up/;

test("every known board has a name of its own, a known chip and a partition table", (t) => {
  t.is(new Set(BOARDS.map(({ name }) => name)).size, BOARDS.length);
  for (const { name, chip, flash } of BOARDS) {
    t.regex(name, /^[a-z0-9-]+$/);
    t.true(
      CHIPS.some((known) => known.name === chip),
      name,
    );
    t.true(FLASH_SIZES.includes(flash), name);
  }
});

test("no known board uses a pin of its flash, its USB or its serial line", (t) => {
  for (const { name, chip, pins } of BOARDS) {
    const { id } = CHIPS.find((known) => known.name === chip)!;
    t.is(new Set([pins.data, pins.clock, pins.switch]).size, 3, name);
    t.is(refusePin(id, pins.input, true), undefined, `${name}: input`);
    t.true(pins.input !== pins.switch, name);
    t.true(ADC1[chip]?.includes(pins.analog) && pins.analog !== pins.switch, `${name}: analog`);
    for (const [use, pin] of Object.entries(pins)) {
      const why = refusePin(id, pin, true);
      t.true(why === undefined || BUTTONS_ONLY.test(why), `${name}: ${use}, pin ${pin} ${why}`);
    }
  }
});

const sdk = ((): Sdk | undefined => {
  try {
    return findSdk();
  } catch {
    return undefined;
  }
})();

(sdk ? test : test.skip)("the SDK has the target of every known board, for the same chip", (t) => {
  for (const { name, chip, target, also = [] } of BOARDS)
    for (const one of [target, ...also]) t.is(chipOf(sdk!, one).name, chip, `${name}: ${one}`);
});
