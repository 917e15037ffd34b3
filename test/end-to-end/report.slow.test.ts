// Reports from a server to a file, and the example of the guide.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import test from "ava";
import { transform } from "esbuild";
import { Reports, Session } from "../../report/index.js";
import { listen } from "../fakes/listen.js";
import { scratch } from "../tools/scratch.js";

const MEASURED = fileURLToPath(new URL("./report-memory.js", import.meta.url));
const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const ROWS = 1_000_000;

test("a million rows pass in less than 150 MB", async (t) => {
  function* answer(): Generator<string> {
    yield '{"columnLabels":["Device","At","energy"],"dataTable":[';
    for (let i = 0; i < ROWS; i++)
      yield `${i > 0 ? "," : ""}{"Device":"device-${i % 20}","At":"${1_760_000_000_000 + i}","energy":${i}}`;
    yield "]}";
  }
  const server = createServer((request, response) => {
    request.resume();
    Readable.from(answer(), { objectMode: true }).pipe(response);
  });
  const url = `http://127.0.0.1:${await listen(server, t)}`;
  const path = join(scratch(), "report.csv");
  const file = openSync(path, "w");
  const child = spawn(process.execPath, [MEASURED, url, VIEW], { stdio: ["ignore", file, "pipe"] });
  const said = (await child.stderr!.setEncoding("utf8").toArray()).join("");
  closeSync(file);
  const { rows, mb } = JSON.parse(said) as { rows: number; mb: number };
  t.is(rows, ROWS);
  t.log(`${mb.toFixed(0)} MB for ${rows} rows`);
  t.true(mb > 10 && mb < 150, `${mb}`);
  const lines = readFileSync(path, "utf8").split("\r\n");
  t.is(lines.length, ROWS + 2);
  t.is(lines.at(-2), `device-${(ROWS - 1) % 20},${1_760_000_000_000 + ROWS - 1},${ROWS - 1}`);
});

test("the example of docs/guides/reports.md builds a report", async (t) => {
  const example =
    /```ts\nimport[^\n]*\n([\s\S]*?)```/.exec(readFileSync("docs/guides/reports.md", "utf8"))?.[1] ?? "";
  t.true(example.includes("reports.build("));
  const server = createServer((request, response) => {
    request.resume();
    const report = '{"columnLabels":["Points"],"dataTable":[{"Points":1},{"Points":2}]}';
    response.end(request.url === "/api/auth/login" ? '{"token":"a.b.c"}' : report);
  });
  const url = `http://127.0.0.1:${await listen(server, t)}`;
  const here = example.replace(/https:\/\/\w+\.example\.com/g, url);
  const { code } = await transform(here, {
    loader: "ts",
    format: "esm",
    supported: { "top-level-await": true },
  });
  const names = ["Session", "Reports", "username", "password"];
  const run = new Function(...names, `return (async () => { ${code}; return { rows, points }; })()`);
  const { rows, points } = await run(Session, Reports, "tenant@thingsboard.org", "tenant");
  t.deepEqual([rows, points], [2, 3]);
});
