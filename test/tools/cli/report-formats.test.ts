// What `mote report` makes of rows, without a process and a network.
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import type { Row } from "../../../report/index.js";
import { forStream, plainLines } from "../../../tools/cli/output/table.js";
import { openOutput } from "../../../tools/cli/report/output.js";
import { type FormatName, isoDate, RowWriter } from "../../../tools/cli/report/row-writer.js";
import { viewId } from "../../../tools/cli/report/view-id.js";
import { UsageError } from "../../../tools/cli/usage.js";
import { scratch } from "../scratch.js";

const ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const OTHER = "00000000-0000-4000-8000-000000000000";

interface Written {
  readonly text: string;
  readonly remarks: string[];
}

interface Manner {
  readonly dates?: string[];
  /** The labels come after the rows. */
  readonly labelsLast?: boolean;
}

function written(
  name: FormatName,
  labels: string[],
  rows: Row[],
  { dates = [], labelsLast }: Manner = {},
): Written {
  let text = "";
  const output = {
    write: (more: string) => {
      text += more;
      return true;
    },
    commit: () => {},
    abandon: () => {},
  };
  const writer = new RowWriter(name, output, dates);
  if (!labelsLast) writer.labels(labels);
  for (const row of rows) writer.row(row);
  if (labelsLast) writer.labels(labels);
  writer.finish();
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
    t.is(written("csv", LABELS, ROWS, { labelsLast }).text, CSV);
    const lines = written("ndjson", LABELS, ROWS, { labelsLast }).text.trimEnd().split("\n");
    t.deepEqual(
      lines.map((line) => JSON.parse(line)),
      ROWS,
    );
    t.is(
      written("table", LABELS, ROWS.slice(1), { labelsLast }).text,
      "Device         Day            Ø\n=HYPERLINK(1)  1760086400000  -\n-5                            -\n",
    );
  }
  t.is(
    written("csv", ["a"], [{ a: "+49 30" }, { a: "@a" }, { a: "\n=1" }, { a: "＝1" }, { a: true }]).text,
    `a\r\n"'+49 30"\r\n"'@a"\r\n"'\n=1"\r\n"'＝1"\r\ntrue\r\n`,
  );
  const early = Array.from({ length: 10_001 }, () => ({ a: 1 }));
  t.throws(() => written("csv", ["a"], early, { labelsLast: true }), { message: /use --format ndjson/ });
  t.is(written("ndjson", ["a"], early, { labelsLast: true }).text.length, 10_001 * 8);
});

test("--date turns only the named columns into dates, in every format", (t) => {
  const { text, remarks } = written("csv", LABELS, ROWS, { dates: ["Day"] });
  t.regex(text, /2025-10-09T08:53:20\.000Z,-1\.5/);
  t.deepEqual(remarks, []);
  const lines = written("ndjson", LABELS, ROWS, { dates: ["Day"] }).text.split("\n");
  t.is(JSON.parse(lines[1]!).Day, "2025-10-10T08:53:20.000Z");
  t.deepEqual(written("csv", LABELS, ROWS).remarks, ['Looks like a date: --date "Day"']);
  for (const [value, shown] of [
    ["1760000000000", "2025-10-09T08:53:20.000Z"],
    [1_760_000_000_000, "2025-10-09T08:53:20.000Z"],
    ["-1", "1969-12-31T23:59:59.999Z"],
    ...["x", "", "1e3", "99999999999999999", null, true, 1.5].map((same) => [same, same] as const),
  ] as const)
    t.is(isoDate(value), shown);
  t.throws(() => written("csv", ["a\u001b[2J", "b"], [], { dates: ["Day"] }), {
    instanceOf: UsageError,
    message: '--date: no column "Day" (expected one of "a\ufffd[2J", "b")',
  });
});

test("refuses a million labels and reports thousands of duplicates at once", (t) => {
  const labels = (count: number): string[] => Array.from({ length: count }, () => "a");
  t.throws(() => written("csv", labels(1_000_000), []), { message: /the report has 1000000 columns/ });
  const began = process.cpuUsage();
  t.regex(written("csv", labels(4096), [{ a: 1 }, {}]).remarks.join(), /^Two columns have the same label/);
  t.true(process.cpuUsage(began).user < 3_000_000);
});

test("new labels in each row and long texts take no room in memory; a table has 1000 rows", (t) => {
  const rows = Array.from({ length: 3000 }, (_, i) => ({ [`label ${i}`]: "1760000000000" }));
  const { remarks } = written("csv", ["a"], rows);
  t.regex(remarks.join(), /Left out values whose labels are not columns: "label 0"/);
  t.true(remarks.join("").length < 1000);
  const long = Array.from({ length: 1200 }, () => ({ a: "x".repeat(10_000), b: "y" }));
  const table = written("table", ["a", "b"], long);
  t.is(table.text.split("\n").length, 1002);
  t.true(table.text.length < 1001 * 2010);
  t.deepEqual(table.remarks, ["A table has at most 1000 rows: 200 more with --format csv or -o FILE"]);
});

test("a platform's texts cannot move the cursor of a terminal", (t) => {
  const { text } = written("table", ["a\u001b[1m"], [{ "a\u001b[1m": "\u001b]0;x\u0007\r\n\u202e" }]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  t.notRegex(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
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

test("a file is there when it is whole, and not before; what was there stays until then", (t) => {
  const at = scratch();
  const path = join(at, "report.csv");
  writeFileSync(path, "old", { mode: 0o640 });
  const output = openOutput(path);
  output.write("x".repeat(200_000));
  t.is(readFileSync(path, "utf8"), "old");
  output.commit();
  t.is(readFileSync(path, "utf8").length, 200_000);
  t.is(statSync(path).mode & 0o777, 0o640);
  t.deepEqual(readdirSync(at), ["report.csv"]);
});

test("replaces a link's target, writes to a device file, refuses a directory", (t) => {
  const at = scratch();
  writeFileSync(join(at, "real"), "old");
  symlinkSync(join(at, "real"), join(at, "link"));
  const output = openOutput(join(at, "link"));
  output.write("new");
  output.commit();
  t.is(readFileSync(join(at, "real"), "utf8"), "new");
  t.deepEqual(readdirSync(at).sort(), ["link", "real"]);
  const nothing = openOutput("/dev/null");
  nothing.write("x");
  nothing.commit();
  t.false(statSync("/dev/null").isFile());
  writeFileSync(join(at, "fixed"), "old", { mode: 0o444 });
  // The superuser may write anything.
  if (process.getuid?.() !== 0)
    t.throws(() => openOutput(join(at, "fixed")), { message: /cannot be written \(EACCES\)/ });
  t.throws(() => openOutput(""), { instanceOf: UsageError, message: /requires the name of a file/ });
  t.throws(() => openOutput(at), { instanceOf: UsageError, message: /is a directory/ });
  t.throws(() => openOutput(join(at, "none", "x")), {
    instanceOf: UsageError,
    message: /cannot be written \(ENOENT\)/,
  });
});
