// The reader of the report API's answers.
import type { Row } from "../../report/question.js";
import { RowReader } from "../../report/row-reader.js";
import { must, type Parser, textOf, whole } from "./parser.js";

const LIMIT = 200;
const DOCUMENTS = [
  '{"columnLabels":["Device","Day"],"dataTable":[{"Device":"a \\"b\\" \\\\","Day":"1760000000000","n":-1.5e3},{},{"Day":null}]}',
  '{ "dataTable" : [ {"a":"\\ud83d\\ude00ü}]"} , {"b":true} ] , "columnLabels" : [ "a" , "b" ] }',
  `{"more":[{"]":"}"}],"columnLabels":[],"other":"${"x".repeat(LIMIT * 2)}","dataTable":[],"last":1.5}`,
  `{"columnLabels":["${"y".repeat(LIMIT - 4)}"],"dataTable":[{"a":"${"z".repeat(LIMIT - 8)}"}]}`,
];

/**
 * Against the engine's parser: what is taken is JSON with these very labels and rows, and rows
 * handed out early are its first.
 */
function read(pieces: readonly Uint8Array[]): unknown {
  const rows: Row[] = [];
  const labels: (readonly string[])[] = [];
  const reader = new RowReader(LIMIT, {
    labels: (list) => labels.push(list),
    row: (row) => rows.push(row),
  });
  for (const piece of pieces) if (!reader.feed(piece)) break;
  if (reader.problem === undefined && reader.end()) {
    const text = textOf(whole(pieces));
    // What is skipped beyond the limit is not looked at.
    const theirs =
      text.length <= LIMIT ? (JSON.parse(text) as { columnLabels: string[]; dataTable: Row[] }) : undefined;
    const same =
      JSON.stringify([theirs?.columnLabels, theirs?.dataTable]) === JSON.stringify([labels[0], rows]);
    must(theirs === undefined || same, "what is taken is read as JSON.parse reads it");
    must(labels.length === 1, "labels come once");
  }
  must(reader.rows >= rows.length, "rows are counted");
  return { problem: reader.problem, labels, rows };
}

export const REPORT: Parser = {
  name: "report",
  documents: DOCUMENTS.map((document) => Buffer.from(document)),
  read,
  incremental: true,
};
