// What modules take of ROM, by the SDK that $MODDABLE names.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { findSdk, SdkError } from "../../../tools/moddable/sdk.js";
import { weigh, weighable, weighModule } from "../../../tools/moddable/weigh.js";

const place = mkdtempSync(join(tmpdir(), "mote-weigh-test-"));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

const module = (name: string, text: string) => {
  const file = join(place, `${name.replace("/", "-")}.js`);
  writeFileSync(file, text);
  return { name, file };
};

test("what imports the core at the most can be weighed by itself", (t) => {
  const names = weighable();
  for (const name of ["mote", "mote-lean", "mote-report"]) t.true(names.includes(name), name);
  t.false(names.includes("mote-esp32"));
});

if (!process.env.MODDABLE) test.skip("weights (the Moddable SDK is missing: $MODDABLE is not set)", () => {});
else {
  const sdk = findSdk();

  test.serial("a function weighs its code and slots; what is done once weighs nothing", (t) => {
    const once = Array.from({ length: 50 }, (_, at) => `let x${at} = Math.abs(${at}) + 1;`).join("\n");
    const small = weigh(sdk, [module("small", "export const f = (a) => a + 1;")]);
    const same = weigh(sdk, [module("same", `${once}\nexport const f = (a) => a + 1;`)]);
    const more = weigh(sdk, [
      module("more", "export const f = (a) => a + 1; export const g = (a) => f(a) * 2;"),
    ]);
    t.is(same.code, small.code);
    t.true(small.code > 10 && small.code < 40, `${small.code}`);
    t.true(more.code > small.code && more.slots > small.slots);
    t.true(more.rom >= more.code + 16 * more.slots);
  });

  test.serial("a module is weighed beside those that it imports, without them", (t) => {
    const big = module("big", `export const big = () => ${JSON.stringify("x".repeat(5000))};`);
    const other = module("other/one", 'import { big } from "big"; export const two = () => big() + 2;');
    const weight = weigh(sdk, [big, other]);
    t.true(weight.code > 10 && weight.code < 100, `${weight.code}`);
    t.true(weighModule(sdk).rom < 1000);
  });

  test.serial("what the SDK's compiler does not take is reported with its words", (t) => {
    t.throws(() => weigh(sdk, [module("wrong", "const = 1;")]), {
      instanceOf: SdkError,
      message: /^xsc failed:/,
    });
  });
}
