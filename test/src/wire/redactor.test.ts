// A text shows no secret, in whatever form it stands there, and says what it said before if it holds none.
import test from "ava";
import fc from "fast-check";
import { LineCleaner, SecretRedactor } from "../../../src/wire/text/redactor.js";
import { fakeHost } from "../../fakes/host.js";

const host = fakeHost();
const TOKEN = "q7RtYb2mXw9KcVh4Zs6N";

function knowing(...secrets: string[]): SecretRedactor {
  const redactor = new SecretRedactor(host);
  for (const secret of secrets) redactor.pin(secret);
  return redactor;
}

const utf8 = (text: string): Buffer => Buffer.from(text);
const all = (text: string, one: (byte: number) => string): string => [...utf8(text)].map(one).join("");
const two = (byte: number): string => byte.toString(16).padStart(2, "0");

/** Every form in which a secret must be found, each with letters around it. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "upper case": (secret) => secret.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  "lower case": (secret) => secret.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  percent: encodeURIComponent,
  "every byte percent": (secret) => all(secret, (byte) => `%${two(byte).toUpperCase()}`),
  "percent twice": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  form: (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  json: (secret) => JSON.stringify(secret).slice(1, -1),
  "json in json": (secret) => JSON.stringify(JSON.stringify(secret)).slice(1, -1),
  "\\u escapes": (secret) => {
    let text = "";
    for (let i = 0; i < secret.length; i++)
      text += `\\u${secret.charCodeAt(i).toString(16).padStart(4, "0")}`;
    return text;
  },
  "\\x escapes": (secret) => all(secret, (byte) => `\\x${two(byte)}`),
  hex: (secret) => all(secret, two),
  "upper hex": (secret) => all(secret, two).toUpperCase(),
  "hex dump": (secret) => [...utf8(secret)].map(two).join(" "),
  "hex with colons": (secret) => [...utf8(secret)].map(two).join(":"),
  base64: (secret) => utf8(secret).toString("base64"),
  "base64 behind one": (secret) => utf8(`u${secret}`).toString("base64"),
  "base64 behind two": (secret) => utf8(`u:${secret}: and more`).toString("base64"),
  base64url: (secret) => utf8(`?>${secret}`).toString("base64url"),
  "base64 in lines": (secret) =>
    utf8(`{"token":"${secret}"}`)
      .toString("base64")
      .replace(/(.{9})/g, "$1\r\n"),
  "base64 in a URL": (secret) => encodeURIComponent(utf8(secret).toString("base64")),
};

for (const [form, make] of Object.entries(FORMS))
  test(`hides a text that holds a secret: ${form}`, (t) => {
    for (const secret of [TOKEN, 'p&"\\ %41+/ß€😀', "correct horse battery", "greenhouse"]) {
      const redactor = knowing("another-secret-0", secret);
      const form = make(secret);
      for (const text of [form, `GET /x?y=${form} failed`, `"${form}"`]) {
        const clean = redactor.clean(text);
        t.true(clean.includes("***"), text);
        t.false(redactor.holds(clean));
        // No half of it either, wherever it is cut.
        for (let at = 0; at + 12 <= form.length; at++) t.false(clean.includes(form.slice(at, at + 12)), text);
      }
    }
  });

test("hides any text with any secret in any form", (t) => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  const secret = fc
    .string({ unit: "grapheme", minLength: 8, maxLength: 64 })
    .filter((one) => utf8(one.replace(/[\p{Cc}]/gu, "")).length >= 8);
  const form = fc.constantFrom(...Object.keys(FORMS).filter((name) => !/case|in lines/.test(name)));
  t.notThrows(() =>
    fc.assert(
      // A blank on both sides: digits and letters around it would be read with it.
      fc.property(secret, form, text, text, (one, name, before, after) =>
        knowing(one).holds(`${before} ${FORMS[name]!(one)} ${after}`),
      ),
      { numRuns: 3000 },
    ),
  );
});

test("hides hexadecimal digits wherever in a path, or behind whatever row of digits", (t) => {
  const before = [
    "/api/v1/devices/warehouse-north/aisle/shelf/",
    "a1-b2-c3-d4-e5-f6-a7-b8-c9-d0-",
    "7c5e1f20-0000-4000-8000-00805f9b34fb/",
    "2026-11-24/13-37/0/1/2/3/4/5/6/7/8/9/",
    `${"0123456789".repeat(9)}/`,
    "1",
    "12",
  ];
  for (const secret of [TOKEN, "greenhouse"])
    for (const path of [...before, ...before.map((one) => one.repeat(5))]) {
      const redactor = knowing(secret);
      for (const digits of [all(secret, two), all(secret, two).toUpperCase()])
        for (const after of ["", "/x", "-0a-1b", "77"])
          t.is(redactor.clean(`GET ${path}${digits}${after} failed`), "GET *** failed", `${path} ${after}`);
    }
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9a-z/_+-]{0,80}[g-z/_+-]$/),
        fc.stringMatching(/^[0-9A-Za-z]{8,40}$/),
        (path, secret) => knowing(secret).holds(`${path}${all(secret, two)}`),
      ),
      { numRuns: 3000 },
    ),
  );
});

test("hides the words that show a secret, also one with blanks", (t) => {
  const redactor = knowing(TOKEN, "correct horse battery");
  t.is(redactor.clean(`no answer to "${TOKEN}", tried again`), "no answer to *** tried again");
  t.is(redactor.clean(`${TOKEN} and /api/v1/${TOKEN}/rpc`), "*** and ***");
  t.is(redactor.clean("the password is correct horse battery, they say"), "the password is *** they say");
  t.is(redactor.clean("joined with correct horse battery"), "joined with ***");
  t.is(redactor.clean("verbunden mit Schlüssel correct horse battery"), "***");
});

test("leaves a text without a secret as it is", (t) => {
  const redactor = knowing(TOKEN, "correct horse battery", "provision-key", "provision-secret");
  for (const text of [
    "provisioned as greenhouse-7",
    "RPC 7 setSwitch answered: HANDLER_FAILED",
    "offline: no connection to platform.example.com",
    "backtrace of 1f2e3d4c5b6a7988: 0x42001234 0x4200abcd 0x42005678",
    "2026-01-01 12:00:00 the answer was 200, correct",
    "",
  ])
    t.is(redactor.clean(text), text);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (line) => !knowing(TOKEN).holds(line)),
      { numRuns: 2000 },
    ),
  );
});

test("hides a piece of a random secret, and half of any at the end of a text", (t) => {
  const redactor = knowing(TOKEN, "greenhouse wifi");
  for (const text of [
    `first ${TOKEN.slice(0, 7)}, then`,
    `then ${TOKEN.slice(7, 14)}, and`,
    `at last ${TOKEN.slice(13)}`,
    `in base64: ${utf8(TOKEN.slice(0, 9)).toString("base64")} and`,
    "cut here: greenhouse",
  ])
    t.false(redactor.holds(redactor.clean(text)), text);
  t.is(redactor.clean("a greenhouse by the river"), "a greenhouse by the river");
});

test("a word of up to three letters counts only where it stands alone, and no stars show a secret", (t) => {
  const redactor = knowing("on");
  t.is(redactor.clean("online"), "online");
  t.is(redactor.clean("ON: the light is on"), "*** the light is ***");
  t.is(knowing("*").clean("a * b"), "a (-) b");
});

test("never forgets a secret of the device's own; of the others the latest stay", (t) => {
  const redactor = knowing(TOKEN);
  for (let n = 0; n < 100; n++) redactor.conceal(`password number ${n} of a neighbour`);
  t.is(redactor.clean(`x ${TOKEN}`), "x ***");
  t.is(redactor.clean("password number 99 of a neighbour"), "***");
  t.is(redactor.clean("the password number 0 of a neighbour!"), "the password number 0 of a neighbour!");
  redactor.conceal("x".repeat(10_000));
  t.is(redactor.clean(`x ${TOKEN}`), "x ***");
  t.is(redactor.clean("x".repeat(300)), "***");
});

test("hides a secret that is spread over lines, and only lines that hold a part of it", (t) => {
  for (const parts of [
    ["the pass is correct ho", "rse battery, is it?"],
    ["correct ", "horse ", "battery"],
  ]) {
    const cleaner = new LineCleaner(knowing("correct horse battery"));
    t.is(cleaner.clean("nothing yet"), "nothing yet");
    const shown = parts.map((part) => cleaner.clean(part));
    t.false(shown.join("").includes("correct horse battery"));
    t.is(shown.at(-1), "***");
    t.is(cleaner.clean("and then?"), "and then?");
  }
  const cleaner = new LineCleaner(knowing(TOKEN));
  for (const line of [TOKEN, utf8(TOKEN).toString("hex"), utf8(TOKEN).toString("base64url")]) {
    t.is(cleaner.clean(line), "***");
    t.is(cleaner.clean("in two"), "in two");
  }
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
  t.deepEqual(json({ a: utf8(`Basic ${TOKEN}`).toString("base64") }), { a: "***" });
  const harmless = { short: "short", piece: TOKEN.slice(0, 12), n: 3 };
  t.is(redactor.cleanJson(JSON.stringify(harmless)), JSON.stringify(harmless));
});
