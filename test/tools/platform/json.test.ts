import test from "ava";
import { jsonText } from "../../../tools/platform/core/json/json.js";
import { JsonSyntaxError, parseJson } from "../../../tools/platform/core/json/json-reader.js";

const READ: [title: string, text: string, shown: string][] = [
  ["unquoted keys and strings", "{a:hello}", '{"a":"hello"}'],
  ["single quotes", "{'a':'b'}", '{"a":"b"}'],
  ["semicolons and equals signs", "{a=1;b=>2}", '{"a":1,"b":2}'],
  ["comments", '{/* one */"a":1 // two\n# three\n}', '{"a":1}'],
  ["a byte order mark", '\ufeff{"a":1}', '{"a":1}'],
  ["a guard in front", ')]}\'\n{"a":1}', '{"a":1}'],
  ["an empty place in a list as null", "[1,]", "[1,null]"],
  ["of equal keys the last", '{"a":1,"a":2}', '{"a":2}'],
  ["nothing at all as null", "  ", "null"],
  ["escapes", '"\\u00e9\\n\\"\\/"', '"é\\n\\"/"'],
  ["a number as it is spelt", "[1.50,1E+3,-0]", "[1.50,1E+3,-0]"],
  ["a key that names the prototype", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
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
  ["a comment without end", "{/* }"],
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

test("the error names line and column, as the real server's does", (t) => {
  const error = t.throws(() => parseJson('{"a":1,\n}'), { instanceOf: JsonSyntaxError });
  t.regex(
    error.message,
    /^com\.google\.gson\.stream\.MalformedJsonException: Expected name at line 2 column 2 path \$\.a\n/,
  );
});
