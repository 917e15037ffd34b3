import test from "ava";
import { jsonText } from "../../../tools/platform/core/json/json.js";
import { JsonSyntaxError, parseJson } from "../../../tools/platform/core/json/json-reader.js";

const READ: [title: string, text: string, shown: string][] = [
  ["of equal keys the last", '{"a":1,"a":2}', '{"a":2}'],
  ["a blank text as null", "  ", "null"],
  ["escapes", '"\\u00e9\\n\\"\\/"', '"é\\n\\"/"'],
  [
    "numbers as they are spelt",
    "[1.50,1E+3,-0,-0.0,12345678901234567890]",
    "[1.50,1E+3,-0,-0.0,12345678901234567890]",
  ],
  ["a key that names the prototype", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
  ["brackets inside a string", `{"a":"${"[".repeat(300)}"}`, `{"a":"${"[".repeat(300)}"}`],
];

for (const [title, text, shown] of READ) {
  test(`reads ${title}`, (t) => {
    t.is(jsonText(parseJson(text)), shown);
  });
}

const REFUSED: [title: string, text: string][] = [
  ["a comma at the end of an object", '{"a":1,}'],
  ["what follows the document", "{} x"],
  ["a string without end", '"abc'],
  ["an object without end", '{"a":1'],
  ["an unknown escape", '"\\x"'],
  ["a bad Unicode escape", '"\\u12g4"'],
  ["unquoted keys", "{a:1}"],
  ["single quotes", "{'a':1}"],
  ["comments", "{}//x"],
  ["an empty place in a list", "[1,]"],
  ["20,000 brackets", "[".repeat(20_000)],
  ["a member without a value", '{"a":}'],
  ["a nesting of 256", `${"[".repeat(256)}${"]".repeat(256)}`],
];

for (const [title, text] of REFUSED) {
  test(`refuses ${title}`, (t) => {
    t.throws(() => parseJson(text), { instanceOf: JsonSyntaxError });
  });
}

test("a nesting of 255 is read", (t) => {
  t.notThrows(() => parseJson(`${"[".repeat(255)}${"]".repeat(255)}`));
});
