import test from "ava";
import { refusePin } from "../../hosts/esp32/commissioning/pins.js";
import { BOARDS } from "../../tools/boards.js";
import { CHIPS, chipOf } from "../../tools/moddable/esp32/chips.js";
import { FLASH_SIZES } from "../../tools/moddable/esp32/esp32.js";
import { findSdk, type Sdk } from "../../tools/moddable/sdk.js";

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
    t.is(new Set(Object.values(pins)).size, 3, name);
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
