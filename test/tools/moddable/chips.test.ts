import test from "ava";
import { CHIPS, chipOf, targetsOf } from "../../../tools/moddable/esp32/chips.js";
import { findSdk, type Sdk } from "../../../tools/moddable/sdk.js";
import { read } from "../../architecture/tree.js";

const smallest = JSON.parse(read("manifest.json")).creation.static;
const byTarget: Record<string, { creation?: { static: number } }> = JSON.parse(
  read("hosts/esp32/heap/manifest.json"),
).platforms;

test("the engine's block fits the largest piece of every chip, with room for what the heap adds to a block", (t) => {
  for (const { name, engine, largest, heap } of CHIPS) {
    t.true(engine + 4096 <= largest, name);
    t.true(largest < heap, name);
  }
});

test("the block of manifest.json is the smallest of all chips: it runs on a board that is named nowhere", (t) => {
  t.is(smallest, Math.min(...CHIPS.map(({ engine }) => engine)));
});

const sdk = ((): Sdk | undefined => {
  try {
    return findSdk();
  } catch {
    return undefined;
  }
})();
const withSdk = sdk ? test : test.skip;

withSdk("every target of the SDK has the block of its chip", (t) => {
  for (const chip of CHIPS) {
    const targets = targetsOf(sdk!, chip.name);
    t.true(targets.length > 0, chip.name);
    for (const target of targets) t.is(byTarget[target]?.creation?.static ?? smallest, chip.engine, target);
  }
});

withSdk("a target says its chip by itself, through another, or has the first of all", (t) => {
  t.is(chipOf(sdk!, "esp32").name, "esp32");
  t.is(chipOf(sdk!, "esp32/nodemcu").name, "esp32");
  t.is(chipOf(sdk!, "esp32/moddable_display_2").name, "esp32");
  t.is(chipOf(sdk!, "esp32/xiao_esp32c3").name, "esp32c3");
  t.throws(() => chipOf(sdk!, "esp32/esp32h2"), {
    message: "esp32/esp32h2 has a chip without Wi-Fi (esp32h2).",
  });
  t.throws(() => chipOf(sdk!, "esp8266"), { message: /esp8266 is no target/ });
});
