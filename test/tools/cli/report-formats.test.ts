// What `mote report` makes of rows, without a process and a network.
import test from "ava";
import type { Row } from "../../../report/index.js";
import { forStream, plainLines } from "../../../tools/cli/output/table.js";
import { type FormatName, RowWriter } from "../../../tools/cli/report/row-writer.js";
import { viewId } from "../../../tools/cli/report/view-id.js";

const ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const OTHER = "00000000-0000-4000-8000-000000000000";

interface Written {
  readonly text: string;
  readonly remarks: string[];
}

/** `labelsLast`: the labels come after the rows. */
function written(name: FormatName, labels: string[], rows: Row[], labelsLast = false): Written {
  let text = "";
  const write = (more: string): boolean => {
    text += more;
    return true;
  };
  const writer = new RowWriter(name, { write });
  if (!labelsLast) writer.labels(labels);
  for (const row of rows) writer.row(row);
  if (labelsLast) writer.labels(labels);
  return { text, remarks: writer.remarks };
}

const LABELS = ["Device", "Day", "Ø"];
const ROWS: Row[] = [
  { Device: 'a,"b"\r\n', Day: "1760000000000", Ø: -1.5 },
  { Device: "=HYPERLINK(1)", Day: "1760086400000", Ø: null },
  { Day: "", Device: "-5" },
];
const CSV =
  'Device,Day,Ø\r\n"a,""b""\r\n",1760000000000,-1.5\r\n"\'=HYPERLINK(1)",1760086400000,\r\n-5,,\r\n';

test("each format holds the rows, with the labels before or after them", (t) => {
  for (const labelsLast of [false, true]) {
    t.is(written("csv", LABELS, ROWS, labelsLast).text, CSV);
    const lines = written("ndjson", LABELS, ROWS, labelsLast).text.trimEnd().split("\n");
    t.deepEqual(
      lines.map((line) => JSON.parse(line)),
      ROWS,
    );
  }
  t.is(
    written("csv", ["a"], [{ a: "+49 30" }, { a: "@a" }, { a: "\n=1" }, { a: "＝1" }, { a: true }]).text,
    `a\r\n"'+49 30"\r\n"'@a"\r\n"'\n=1"\r\n"'＝1"\r\ntrue\r\n`,
  );
  const early = Array.from({ length: 10_001 }, () => ({ a: 1 }));
  t.throws(() => written("csv", ["a"], early, true), { message: /use --format ndjson/ });
  t.is(written("ndjson", ["a"], early, true).text.length, 10_001 * 8);
});

test("new labels in each row take no room in memory", (t) => {
  const rows = Array.from({ length: 3000 }, (_, i) => ({ [`label ${i}`]: "1760000000000" }));
  const { remarks } = written("csv", ["a"], rows);
  t.regex(remarks.join(), /Left out values whose labels are not columns: "label 0"/);
  t.true(remarks.join("").length < 1000);
});

test("a platform's texts cannot move the cursor of a terminal", (t) => {
  t.is(plainLines("a:\tb"), "a:    b");
  t.is(plainLines("a\u001b[1m,b\r\n\u009b,\rc\n"), "a\ufffd[1m,b\n\ufffd,\ufffdc\n");
  const lines = "a\u001b[2Jb\r\nc\u202e\r\n";
  t.is(forStream(lines, {}), lines, "a file gets them unchanged");
  t.is(forStream(lines, { isTTY: true }), "a\ufffd[2Jb\nc\ufffd\n");
});

test("a view is named by its UUID or by its link", (t) => {
  for (const text of [
    ID,
    ID.toUpperCase(),
    `https://platform.example.com/trendz/view/${ID}`,
    `https://x/${OTHER}/view/${ID}?tab=1#top`,
    `http://x/?viewConfigId=${ID}&tenant=${OTHER}`,
  ])
    t.is(viewId(text), ID);
  for (const text of ["", ` ${ID}`, `${ID}0`, `ftp://x/${ID}`, `${ID} ${OTHER}`, "https://x/view"])
    t.throws(() => viewId(text), { any: true, message: /UUID of a view, or its link/ }, text);
});
