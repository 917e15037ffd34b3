import test from "ava";
import type { Row, RowTaker } from "../../report/question.js";
import { RowReader } from "../../report/row-reader.js";

interface Read {
  readonly labels: (readonly string[])[];
  readonly rows: Row[];
  readonly problem: string | undefined;
}

/** Reads a text that comes in pieces of `size` bytes. */
function read(text: string | Uint8Array, size = 1e9, limit = 1024, taker: Partial<RowTaker> = {}): Read {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const [labels, rows]: [(readonly string[])[], Row[]] = [[], []];
  const reader = new RowReader(limit, {
    labels: (list) => labels.push(list),
    row: (row) => rows.push(row),
    ...taker,
  });
  for (let at = 0; at < bytes.length; at += size) if (!reader.feed(bytes.slice(at, at + size))) break;
  if (reader.problem === undefined) reader.end();
  return { labels, rows, problem: reader.problem };
}

const LABELS = ["Device", "Date", "Ø °C"];
const ROWS: Row[] = [
  { Device: 'say "hi" \\', Date: "1760000000000", "Ø °C": -21.5e-3 },
  {},
  { Device: "a}],{[\n😀\\\\", Date: null, "Ø °C": 0, more: true },
  { Device: "\\", Date: "" },
];
const REPORT = JSON.stringify({ columnLabels: LABELS, dataTable: ROWS });
const TURNED = JSON.stringify({ dataTable: ROWS, columnLabels: LABELS }, null, 2);

for (const [name, text] of [
  ["labels first", REPORT],
  ["labels last, with blanks", TURNED],
  [
    "members that are none of ours",
    `{"a":[[{"]":"}"}],"x\\\\"],"b":1.5e3 ,"c":"\\"",${REPORT.slice(1, -1)},"d":{},"e":null}`,
  ],
] as const) {
  test(`${name}: the same rows wherever the answer is cut`, (t) => {
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size++)
      t.deepEqual(read(bytes, size), { labels: [LABELS], rows: ROWS, problem: undefined }, `${size}`);
  });
}

// Malformed JSON of any kind: test/fuzz compares with JSON.parse.
test("an answer of another shape, or one that breaks off, is no report, however it is cut", (t) => {
  const rows = (text: string): string => `{"columnLabels":["a"],"dataTable":${text}`;
  for (const text of [
    ...["", "<html>", "\u001f\u008b\u0008", "[]", "\ufeff{}", '{"dataTable":[]}', '{"columnLabels":[]}'],
    ...[rows('[],"dataTable":[]}'), rows('[],"columnLabels":[]}'), rows("null}"), rows("[]}x")],
    ...['{"columnLabels":[1],"dataTable":[]}', '{"columnLabels":[["a"]],"dataTable":[]}'],
    ...[
      rows("[[1]]}"),
      rows("[1]}"),
      rows('[{"a":{}}]}'),
      rows('[{"a":[]}]}'),
      rows("[{},]}"),
      rows("[{}{}]}"),
    ],
    ...[rows('[{"a":1e999}]}'), rows('[{"a":"\u0000"}]}'), rows('[{"a":1},{"a"'), rows('[{"a":1}]')],
  ])
    for (const size of [1, 7, 1e9]) t.is(read(text, size).problem, "malformed", text);
  const bytes = Uint8Array.from(Buffer.from(rows('[{"a":"x"}]}')), (byte) => (byte === 0x78 ? 0xff : byte));
  t.is(read(bytes).problem, "malformed", "no UTF-8");
});

test("the last value of a label counts, and __proto__ is a label like any other", (t) => {
  const { rows } = read('{"columnLabels":["a"],"dataTable":[{"a":1,"a":2,"__proto__":3}]}');
  t.deepEqual(Object.entries(rows[0]!), [
    ["a", 2],
    ["__proto__", 3],
  ]);
  t.is(Object.getPrototypeOf(rows[0]), Object.prototype);
});

test("a row of the limit passes; a byte more, and labels or a name beyond it, are too large", (t) => {
  const row = (length: number): string =>
    `{"columnLabels":["a"],"dataTable":[{"a":"${"x".repeat(length - 8)}"}]}`;
  const labels = JSON.stringify(Array.from({ length: 1e5 }, (_, i) => `c${i}`));
  for (const size of [1, 10, 1e9]) {
    t.is(read(row(300), size, 300).problem, undefined);
    t.is(read(row(301), size, 300).problem, "too large");
  }
  t.is(read(`{"columnLabels":${labels},"dataTable":[]}`, 2048, 16_384).problem, "too large");
  t.is(read(`{"${"x".repeat(2000)}":1,"columnLabels":[],"dataTable":[]}`, 100, 1000).problem, "too large");
});
