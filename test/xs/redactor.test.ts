// The redactor on the engine of a board: the same answers as on Node, at a cost that the length of a text bounds.
import { SecretRedactor } from "../../src/wire/text/redactor.js";
import { fakeHost } from "../fakes/host.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";

const ENTRY = `import { SecretRedactor } from "./src/wire/text/redactor.ts";
  const encoder = new TextEncoder();
  globalThis.redactor = new SecretRedactor({ encode: (text) => encoder.encode(text) });`;
const TOKEN = "q7RtYb2mXw9KcVh4Zs6N";
const OWN = [TOKEN, "provision-key", "provision-secret", "correct horse battery", 'p&"\\ %41+/ß€😀'];
/** Steps for each byte of a text at the worst, and for each text; a line of a log takes a tenth of that. */
const STEPS = 1500;
const MORE = 20_000;
/** A text that shows a secret is looked at again, word by word, and once it is clean. */
const LOOKS = 4;

const texts = (): string[] => {
  const plain = "provisioned as greenhouse-7, 21.5 degrees, 0x42001234, https://platform.example.com/api";
  const secret = OWN.flatMap((one) => [
    one,
    encodeURIComponent(one),
    JSON.stringify(one),
    Buffer.from(one).toString("hex"),
    Buffer.from(`?${one}`).toString("base64url"),
  ]);
  return [
    plain,
    "x",
    "the sensor is gone: no answer at 0x44 (3 tries)",
    "online",
    ...secret,
    "A".repeat(2000),
    "%41".repeat(600),
    "\\".repeat(2000),
    "0".repeat(2000),
  ];
};

testOnXs("the redactor finds the same on XS as on Node, within so many steps a byte", async (t) => {
  const host = fakeHost();
  const here = new SecretRedactor(host);
  const bridge = await Bridge.start(host, { entry: ENTRY });
  t.teardown(() => bridge.close());
  for (const one of OWN) {
    here.pin(one);
    await bridge.run(`redactor.pin(${JSON.stringify(one)})`);
  }
  // More than there is room for, of one letter: the worst that a peer can name.
  for (let n = 0; n < 40; n++) {
    here.conceal("a".repeat(20 + n));
    await bridge.run(`redactor.conceal("a".repeat(${20 + n}))`);
  }
  const cost: string[] = [];
  for (const text of texts()) {
    await bridge.run(`globalThis.text = ${JSON.stringify(text)}; undefined`);
    const begin = bridge.compute;
    await bridge.run("text");
    const before = bridge.compute + (bridge.compute - begin);
    const there = await bridge.run(`redactor.clean(text)`);
    const steps = bridge.compute - before;
    cost.push(`${text.slice(0, 16)}: ${Math.round(steps / Buffer.byteLength(text))} steps a byte`);
    t.is(there, here.clean(text), text.slice(0, 80));
    const looks = there === text ? 1 : LOOKS;
    t.true(
      steps < looks * (MORE + STEPS * Buffer.byteLength(text)),
      `${steps} steps for ${text.slice(0, 40)}`,
    );
  }
  t.log(cost);
});
