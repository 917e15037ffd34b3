// A text shows no secret, as it is, percent-encoded or escaped as in JSON, and stays the same if it
// holds none.
import test from "ava";
import fc from "fast-check";
import { SecretRedactor } from "../../../src/wire/text/redactor.js";

const TOKEN = "q7RtYb2mXw9KcVh4Zs6N";
const PASSWORD = 'p&"\\ %41+/ß€😀';

function knowing(...secrets: string[]): SecretRedactor {
  const redactor = new SecretRedactor();
  for (const secret of secrets) redactor.pin(secret);
  return redactor;
}

const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  percent: encodeURIComponent,
  "percent in small digits": (secret) =>
    encodeURIComponent(secret).replace(/%../g, (escaped) => escaped.toLowerCase()),
  json: (secret) => JSON.stringify(secret).slice(1, -1),
};

for (const [name, make] of Object.entries(FORMS))
  test(`masks a secret: ${name}`, (t) => {
    for (const secret of [TOKEN, PASSWORD, "correct horse battery"]) {
      const redactor = knowing("another-secret-0", secret);
      const form = make(secret);
      t.is(redactor.clean(form), "***");
      t.is(redactor.clean(`GET /x?y=${form}&z failed: ${form}`), "GET /x?y=***&z failed: ***");
      // The secret itself in JSON is the JSON form.
      const json = JSON.stringify({ a: name === "json" ? secret : `x ${form}`, b: 1 });
      t.deepEqual(JSON.parse(redactor.cleanJson(json)), { a: "***", b: 1 });
    }
  });

test("masks any secret in any text", (t) => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  const secret = fc.string({ unit: "grapheme", minLength: 8, maxLength: 64 });
  t.notThrows(() =>
    fc.assert(
      fc.property(secret, secret, fc.constantFrom(...Object.keys(FORMS)), text, text, (...made) => {
        const [one, other, name, before, after] = made;
        const form = FORMS[name]!(one);
        // Without a chance match, such as of a text of asterisks.
        fc.pre(
          !"***".includes(form) && ![before, after, "***"].some((part) => part.includes(one.slice(0, 1))),
        );
        return !knowing(one, other).clean(`${before}${form}${after}`).includes(form);
      }),
      { numRuns: 3000 },
    ),
  );
});

test("masks secrets that overlap, and the longer of two", (t) => {
  t.is(knowing("abcdefgh", "abcdefgh-second").clean("x abcdefgh-second y"), "x *** y");
  t.is(knowing("first-part", "part-second").clean("x first-part-second y"), "x *** y");
  t.is(knowing("aaaaaaaa").clean(`x ${"a".repeat(21)} y`), "x *** y");
});

test("masks half of a secret where a text was cut", (t) => {
  const redactor = knowing(TOKEN, PASSWORD);
  t.is(redactor.clean(`GET /api/v1/${TOKEN.slice(0, 10)}`), "GET /api/v1/***");
  t.is(redactor.clean(`"${TOKEN.slice(0, 19)}..." is too large`), '"***..." is too large');
  t.is(redactor.clean(`"${TOKEN.slice(0, 19)}" is too large`), `"${TOKEN.slice(0, 19)}" is too large`);
  t.is(redactor.clean(`at ${TOKEN.slice(0, 9)}`), `at ${TOKEN.slice(0, 9)}`);
});

test("leaves a text without a secret as it is", (t) => {
  const redactor = knowing(TOKEN, "correct horse battery", "provision-key", "provision-secret");
  for (const text of [
    "provisioned as greenhouse-7",
    "RPC 7 setSwitch answered: HANDLER_FAILED",
    "2026-01-01 12:00:00 the answer was 200, correct",
    "correct horses",
    "",
  ])
    t.is(redactor.clean(text), text);
});

test("masks no secret of less than six characters", (t) => {
  const redactor = knowing("on", "a", "", "12345", "123456");
  redactor.conceal("off");
  t.is(redactor.clean("online: the light is on or off, 12345"), "online: the light is on or off, 12345");
  t.is(redactor.clean("123456"), "***");
});

test("never forgets a secret of the device's own; of the others the latest stay", (t) => {
  const redactor = knowing(TOKEN);
  for (let n = 0; n < 100; n++) redactor.conceal(`password number ${n} of a neighbour`);
  t.is(redactor.clean(`x ${TOKEN}`), "x ***");
  t.is(redactor.clean("password number 99 of a neighbour"), "***");
  t.is(redactor.clean("the password number 0 of a neighbour!"), "the password number 0 of a neighbour!");
  redactor.conceal("xy".repeat(5000));
  t.is(redactor.clean(`x ${TOKEN}`), "x ***");
  t.is(redactor.clean("xy".repeat(5000)), "***");
  redactor.conceal("a later password");
  t.is(
    redactor.clean("password number 99 of a neighbour, a later password"),
    "password number 99 of a neighbour, ***",
  );
  redactor.pin("a later password");
  for (let n = 0; n < 100; n++) redactor.conceal(`password number ${n} of a neighbour`);
  t.is(redactor.clean("a later password"), "***");
});

test("masks the rest of a text with many secrets", (t) => {
  const clean = knowing(TOKEN).clean(`${TOKEN} `.repeat(1000));
  t.is(clean, "*** ".repeat(17).trim());
});

test("hides strings and names of JSON that hold a whole secret, and nothing else", (t) => {
  const redactor = knowing(TOKEN, "12345678", "short");
  const json = (value: unknown): unknown => JSON.parse(redactor.cleanJson(JSON.stringify(value)));
  t.deepEqual(
    json({ a: [TOKEN, `x${TOKEN}y`, { [`${TOKEN}\\"`]: 1 }], b: 'is \\ it "quoted"?', c: 12345678 }),
    {
      a: ["***", "***", { "***": 1 }],
      b: 'is \\ it "quoted"?',
      c: 12345678,
    },
  );
  const harmless = { short: "short", piece: TOKEN.slice(0, 12), n: 3 };
  t.is(redactor.cleanJson(JSON.stringify(harmless)), JSON.stringify(harmless));
  t.is(redactor.cleanJson(`{"${TOKEN}":"x"}`, true), `{"${TOKEN}":"x"}`, "names that were checked before");
});
