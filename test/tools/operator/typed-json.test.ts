import test from "ava";
import { lossyNumber, parseUnrounded } from "../../../tools/operator/typed-json.js";

test("a number that would be rounded is found, wherever it stands", (t) => {
  const lossy = {
    "9007199254740993": "9007199254740993",
    "-9007199254740992": "-9007199254740992",
    '{"a":[1,{"b":12345678901234567890}]}': "12345678901234567890",
    "[1.5,1e400]": "1e400",
  };
  for (const [json, number] of Object.entries(lossy)) t.is(lossyNumber(json), number);
});

test("what goes as it was typed is let through", (t) => {
  for (const json of [
    ...["9007199254740991", "-9007199254740991", "0.12345678901234567890", "1e300", "true", "{}"],
    ...['"12345678901234567890"', String.raw`{"a\"12345678901234567890":"\\"}`, "[0,-0.5,1E+2]"],
  ])
    t.is(lossyNumber(json), undefined, json);
});

test("a number that would be rounded is read as the text that it was, and nothing else changes", (t) => {
  const json = String.raw`[{"key":"a","value":9007199254740993},{"k 12345678901234567890":"\" 9007199254740993","b":[-9007199254740992,1e400,1.5,9007199254740991]}]`;
  t.deepEqual(parseUnrounded(json), [
    { key: "a", value: "9007199254740993" },
    {
      "k 12345678901234567890": '" 9007199254740993',
      b: ["-9007199254740992", "1e400", 1.5, 9007199254740991],
    },
  ]);
  t.is(parseUnrounded("12345678901234567890"), "12345678901234567890");
  t.deepEqual(parseUnrounded('["a", 12345678901234567890, "1e999"]'), ["a", "12345678901234567890", "1e999"]);
  t.throws(() => parseUnrounded('{"a":12345678901234567890'), { instanceOf: SyntaxError });
});

test("a text of 12 MB is read, whatever characters it has", (t) => {
  for (const piece of ["x", "\\n", '\\"', "\\\\", "7"]) {
    const text = piece.repeat(12e6 / piece.length);
    const json = `{"data":"${text}","size":12345678901234567890}`;
    const value = parseUnrounded(json) as { data: string; size: string };
    t.is(value.size, "12345678901234567890");
    t.is(value.data.length, (JSON.parse(`"${piece}"`) as string).length * (12e6 / piece.length));
    t.is(lossyNumber(json), "12345678901234567890");
  }
});
