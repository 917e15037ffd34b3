import test from "ava";
import { bar, Progress } from "../../../tools/cli/output/progress.js";

/** What a terminal of so many rows and columns shows at last, scrolled lines above it counted. */
function terminal(rows: number, columns: number) {
  const screen: string[] = [""];
  let at = 0;
  let scrolled = 0;
  const next = (): void => {
    at++;
    if (at === screen.length) screen.push("");
    if (screen.length > rows) {
      screen.shift();
      at--;
      scrolled++;
    }
  };
  const write = (text: string): void => {
    for (const [piece] of text.matchAll(/\n|\p{Cc}\[\d*[AJK]|\P{Cc}+/gu)) {
      const up = /^\p{Cc}\[(\d+)A$/u.exec(piece);
      if (up) at = Math.max(0, at - Number(up[1]));
      else if (piece === "\u001b[2K") screen[at] = "";
      else if (piece === "\u001b[J") screen.splice(at, Number.POSITIVE_INFINITY, "");
      else if (piece === "\n") next();
      else
        for (let from = 0; from < piece.length; from += columns) {
          if (from > 0) next();
          screen[at] = piece.slice(from, from + columns);
        }
    }
  };
  return { isTTY: true, rows, columns, write, screen, scrolls: () => scrolled };
}

test("more lines than the terminal has are drawn in place, and the rest counted", (t) => {
  const one = terminal(10, 40);
  const progress = new Progress(one);
  for (let turn = 0; turn < 5; turn++)
    progress.show(Array.from({ length: 100 }, (_, n) => `device-${n} turn ${turn}`));
  t.is(one.scrolls(), 0);
  t.deepEqual(one.screen.slice(0, 2), ["device-0 turn 4", "device-1 turn 4"]);
  t.is(one.screen.at(-2), "and 92 more");
});

test("a line that is longer than the terminal is wide is cut, wide signs as two", (t) => {
  const one = terminal(10, 20);
  const progress = new Progress(one);
  for (let turn = 0; turn < 3; turn++) progress.show(["x".repeat(50), "漢".repeat(50), `turn ${turn}`]);
  t.deepEqual(one.screen, [`${"x".repeat(18)}…`, `${"漢".repeat(9)}…`, "turn 2", ""]);
});

test("what had more lines before leaves none behind", (t) => {
  const one = terminal(10, 40);
  const progress = new Progress(one);
  progress.show(["one", "two", "three"]);
  progress.show(["one"]);
  t.deepEqual(one.screen, ["one", ""]);
});

test("the bar is empty at 0, full at 1 and stays within", (t) => {
  t.is(bar(0), "[                        ]   0 %");
  t.is(bar(0.999), "[####################### ]  99 %");
  t.is(bar(1), "[########################] 100 %");
  t.is(bar(2.5), bar(1));
  t.is(bar(-1), bar(0));
});
