import test from "ava";
import fc from "fast-check";
import type { Row, RowTaker } from "../../../src/wire/report.js";
import { ReportReader } from "../../../src/wire/report-reader.js";
import { fakeHost } from "../../fakes/host.js";

interface Read {
  readonly labels: (readonly string[])[];
  readonly rows: Row[];
  readonly problem: string | undefined;
}

const host = fakeHost();

/** Reads a text that comes in pieces of `size` bytes. */
function read(text: string | Uint8Array, size = 1e9, limit = 1024, taker: Partial<RowTaker> = {}): Read {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const [labels, rows]: [(readonly string[])[], Row[]] = [[], []];
  const reader = new ReportReader(host, limit, {
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

test("an empty table is a report", (t) => {
  t.deepEqual(read('{"columnLabels":[],"dataTable":[]}', 1), { labels: [[]], rows: [], problem: undefined });
});

test("rows come before the answer is over, one at a time", (t) => {
  const rows: Row[] = [];
  const reader = new ReportReader(host, 64, { row: (row) => rows.push(row) });
  const bytes = new TextEncoder().encode('{"dataTable":[{"a":1},{"a":2},{"a"');
  t.true(reader.feed(bytes));
  t.deepEqual(rows, [{ a: 1 }, { a: 2 }]);
});

const MALFORMED: Readonly<Record<string, string>> = {
  nothing: "",
  "a page": "<html>",
  "a packed body": "\u001f\u008b\u0008",
  "an array": "[]",
  "no labels": '{"dataTable":[]}',
  "no table": '{"columnLabels":[]}',
  "two tables": '{"columnLabels":[],"dataTable":[],"dataTable":[]}',
  "labels twice": '{"columnLabels":[],"columnLabels":[],"dataTable":[]}',
  "a table that is null": '{"columnLabels":[],"dataTable":null}',
  "labels that are no texts": '{"columnLabels":[1],"dataTable":[]}',
  "labels in labels": '{"columnLabels":[["a"]],"dataTable":[]}',
  "labels that are an object": '{"columnLabels":{},"dataTable":[]}',
  "a row that is a list": '{"columnLabels":[],"dataTable":[[1]]}',
  "a row that is a number": '{"columnLabels":[],"dataTable":[1]}',
  "a row in a row": '{"columnLabels":[],"dataTable":[{"a":{}}]}',
  "a list in a row": '{"columnLabels":[],"dataTable":[{"a":[]}]}',
  "a number that is none": '{"columnLabels":[],"dataTable":[{"a":NaN}]}',
  "a number beyond all": '{"columnLabels":[],"dataTable":[{"a":1e999}]}',
  "a bare NUL in a text": '{"columnLabels":[],"dataTable":[{"a":"\u0000"}]}',
  "a comma too many": '{"columnLabels":[],"dataTable":[{},]}',
  "a comma too few": '{"columnLabels":[],"dataTable":[{}{}]}',
  "a member without a name": '{"columnLabels":[],:1,"dataTable":[]}',
  "a value that is missing": '{"columnLabels":[],"a":,"dataTable":[]}',
  "something behind it": '{"columnLabels":[],"dataTable":[]}x',
  "a row that breaks off": '{"columnLabels":["a"],"dataTable":[{"a":1},{"a"',
  "a table that breaks off": '{"columnLabels":["a"],"dataTable":[{"a":1}',
  "a report that breaks off": '{"columnLabels":["a"],"dataTable":[{"a":1}]',
  "a byte order mark": "\ufeff{}",
};

for (const [name, text] of Object.entries(MALFORMED)) {
  test(`no report: ${name}`, (t) => {
    for (const size of [1, 7, 1e9]) t.is(read(text, size).problem, "malformed");
  });
}

test("bytes that are no UTF-8 are no report", (t) => {
  const bytes = new TextEncoder().encode('{"columnLabels":[],"dataTable":[{"a":"x"}]}');
  bytes[bytes.indexOf(0x78)] = 0xff;
  t.is(read(bytes).problem, "malformed");
});

test("of a label that stands twice in a row the last value counts, and __proto__ is no label", (t) => {
  const { rows } = read('{"columnLabels":["a"],"dataTable":[{"a":1,"a":2,"__proto__":3}]}');
  t.deepEqual(Object.entries(rows[0]!), [["a", 2]]);
});

test("a row of the limit passes, one byte more is too large, however it is cut", (t) => {
  const row = (length: number): string => `{"a":"${"x".repeat(length - 8)}"}`;
  for (const size of [1, 10, 1e9]) {
    const report = (length: number): string => `{"columnLabels":["a"],"dataTable":[${row(length)}]}`;
    t.is(read(report(300), size, 300).problem, undefined);
    t.is(read(report(301), size, 300).problem, "too large");
  }
});

test("labels beyond the limit are too large", (t) => {
  const labels = JSON.stringify(Array.from({ length: 1e5 }, (_, i) => `c${i}`));
  t.is(read(`{"columnLabels":${labels},"dataTable":[]}`, 2048, 16_384).problem, "too large");
});

test("a name of a member beyond the limit is too large", (t) => {
  t.is(read(`{"${"x".repeat(2000)}":1,"columnLabels":[],"dataTable":[]}`, 100, 1000).problem, "too large");
});

test("a member that is skipped may be of any size", (t) => {
  const other = JSON.stringify(Array.from({ length: 1000 }, () => ({ "]": "}\\" })));
  t.deepEqual(read(`{"other":${other},${REPORT.slice(1)}`, 100), {
    labels: [LABELS],
    rows: ROWS,
    problem: undefined,
  });
});

test("a taker that returns false gets no more", (t) => {
  const rows: Row[] = [];
  const row = (one: Row): boolean => rows.push(one) < 2;
  t.is(read(REPORT, 5, 1024, { row }).problem, "given up");
  t.is(rows.length, 2);
  t.is(read(REPORT, 5, 1024, { labels: () => false }).problem, "given up");
});

const cell = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const label = fc.string({ unit: "grapheme" }).filter((name) => name !== "__proto__");
const table = fc.record({
  columnLabels: fc.array(label, { maxLength: 5 }),
  dataTable: fc.array(fc.dictionary(label, cell, { maxKeys: 5 }), { maxLength: 5 }),
});
const turned = fc.boolean();

test("any table comes out as JSON.parse reads it", (t) => {
  fc.assert(
    fc.property(table, turned, fc.nat(40), ({ columnLabels, dataTable }, isTurned, size) => {
      const text = JSON.stringify(isTurned ? { dataTable, columnLabels } : { columnLabels, dataTable });
      const expected = JSON.parse(text) as { columnLabels: string[]; dataTable: Row[] };
      const { labels, rows, problem } = read(text, size + 1, 65_536);
      t.is(problem, undefined);
      t.deepEqual(
        JSON.stringify([labels, rows]),
        JSON.stringify([[expected.columnLabels], expected.dataTable]),
      );
    }),
    { numRuns: 300 },
  );
});

test("what is changed on the way is read as JSON.parse reads it, or not at all", (t) => {
  const edit = fc.record({
    at: fc.nat(),
    cut: fc.nat(3),
    put: fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 1e9-nul"x'), maxLength: 3 }),
  });
  let accepted = 0;
  fc.assert(
    fc.property(
      table,
      turned,
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      fc.nat(40),
      (made, isTurned, edits, size) => {
        const { columnLabels, dataTable } = made;
        let text = JSON.stringify(isTurned ? { dataTable, columnLabels } : { columnLabels, dataTable });
        for (const { at, cut, put } of edits) {
          const from = at % (text.length + 1);
          text = text.slice(0, from) + put + text.slice(from + cut);
        }
        text = Buffer.from(text).toString();
        const { labels, rows, problem } = read(text, size + 1, 65_536);
        if (problem !== undefined) return;
        accepted++;
        const expected = JSON.parse(text) as { columnLabels: string[]; dataTable: Row[] };
        t.deepEqual(
          JSON.stringify([labels, rows]),
          JSON.stringify([[expected.columnLabels], expected.dataTable]),
        );
      },
    ),
    { numRuns: 2000 },
  );
  t.true(accepted > 50, `${accepted}`);
});
