// Tables, paragraphs, questions and steps, by themselves.
import { getEventListeners } from "node:events";
import { PassThrough } from "node:stream";
import test from "ava";
import { confirm } from "../../../tools/cli/ask.js";
import { calledAs } from "../../../tools/cli/called-as.js";
import { reflow } from "../../../tools/cli/output/reflow.js";
import { size } from "../../../tools/cli/output/size.js";
import { clip, columnsOf, table } from "../../../tools/cli/output/table.js";
import { Steps } from "../../../tools/cli/steps.js";
import { pause } from "../../../tools/cli/stop.js";

const ROWS = [
  ["greenhouse-7", "default", "active", "1 s ago"],
  ["a pump with a long name 漢字👩‍🚀漢字", "Mote", undefined, "never"],
];
const HEAD = ["NAME", "PROFILE", "STATE", "LAST SEEN"];

test("a table is as wide as it must, or cut to the columns there are, the widest cells first", (t) => {
  t.is(
    table(HEAD, [ROWS[0]!], { columns: Number.POSITIVE_INFINITY }),
    "NAME          PROFILE  STATE   LAST SEEN\ngreenhouse-7  default  active  1 s ago\n",
  );
  for (const columns of [80, 40, 20]) {
    const lines = table(HEAD, ROWS, { columns }).split("\n");
    t.true(
      lines.every((line) => [...line].length <= columns),
      lines.join("\n"),
    );
    t.is(lines.length, 4);
  }
  t.regex(table(HEAD, ROWS, { columns: 40 }), /^greenho…? {2}|…/m);
  t.true(table(HEAD, ROWS, { columns: 20, wide: true }).includes("greenhouse-7  "));
});

test("a table brings no control character, neither its own nor a peer's", (t) => {
  const shown = table(HEAD, [["\u001b[31mred\u202e", "a\nb", "", ""]], { columns: 40 });
  t.notRegex(shown.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}]/u);
  t.is(shown.split("\n").length, 3);
});

test("a terminal has its columns, a pipe none, unless COLUMNS says so", (t) => {
  t.is(columnsOf({ isTTY: true, columns: 40 }, { COLUMNS: "90" }), 40);
  t.is(columnsOf({ isTTY: true }, {}), 80);
  t.is(columnsOf({}, {}), Number.POSITIVE_INFINITY);
  t.is(columnsOf({}, { COLUMNS: "40" }), 40);
  for (const COLUMNS of ["", "0", "-1", "x", "1e9"])
    t.is(columnsOf({}, { COLUMNS }), Number.POSITIVE_INFINITY);
});

test("a pause leaves no listener behind, and ends when it is asked to", async (t) => {
  const stop = new AbortController();
  for (let n = 0; n < 20; n++) await pause(1, stop.signal);
  t.is(getEventListeners(stop.signal, "abort").length, 0);
  const long = pause(60_000, stop.signal);
  stop.abort();
  await long;
  await pause(60_000, stop.signal);
  t.pass();
});

test("Ctrl-C names what was done, what is under way and what was not begun", async (t) => {
  const steps = new Steps();
  t.is(steps.summary, "interrupted; nothing was changed");
  steps.plan("a", "b", ..."cdefghi");
  await steps.run("a", async () => {});
  await t.throwsAsync(steps.run("b", () => Promise.reject(new Error("no"))));
  steps.begin("c");
  steps.remark = "it goes on";
  t.is(
    steps.summary,
    "interrupted; done: a; under way, and perhaps done: c; it goes on; not begun: d, e, f, g, h and 1 more",
  );
  steps.end("c", "failed c");
  t.regex(steps.summary, /done: a, failed c; not begun/);
});

function terminal(isTTY: boolean, typed: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} });
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  stdin.write(typed);
  return { stdin, stderr } as unknown as NodeJS.Process;
}

test("a question is answered by y or yes alone, and without a terminal by --yes alone", async (t) => {
  for (const typed of ["y\r", "yes\r", "Y\r"])
    await t.notThrowsAsync(confirm("Delete it?", false, terminal(true, typed)));
  for (const typed of ["\r", "n\r", "yy\r", "\u0004"])
    await t.throwsAsync(confirm("Delete it?", false, terminal(true, typed)), {
      message: "nothing was changed",
    });
  const interrupted = await t.throwsAsync(confirm("Delete it?", false, terminal(true, "\u0003")));
  t.is((interrupted as { code?: unknown }).code, 130);
  await t.throwsAsync(confirm("Delete it?", undefined, terminal(false, "y\r")), { message: /--yes/ });
  await t.notThrowsAsync(confirm("Delete it?", true, terminal(false, "")));
});

test("paragraphs fill the width, lists and examples stay, sizes have units", (t) => {
  t.is(
    reflow("one two\nthree\n\nList:\n  a b c d e f g\nend", 9),
    "one two\nthree\n\nList:\n  a b c d e f g\nend",
  );
  t.is(reflow("one two\nthree", 40), "one two three");
  t.deepEqual([999, 1_500, 50_000_000, 1_536_000].map(size), ["999 B", "1.5 kB", "50 MB", "1.5 MB"]);
});

test("lines to copy call this program as it was called", (t) => {
  t.is(calledAs("/usr/local/bin/mote"), "mote");
  t.is(calledAs("/home/u/project/node_modules/.bin/mote-cli"), "npx mote-cli");
  t.is(calledAs("/clone/dist/tools/cli/cli.js"), "npx mote-cli");
});

test("a text that just fits is not clipped", (t) => {
  t.is(clip("12345", 5), "12345");
  t.is(clip("123456", 5), "1234…");
  t.is(clip("anything", 1), "…");
});
