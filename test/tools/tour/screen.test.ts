import test from "ava";
import { Screen } from "../../../tools/tour/screen.js";

class Clock {
  at = 0;
  due: { at: number; call: () => void }[] = [];
  now(): number {
    return this.at;
  }
  later(ms: number, call: () => void): () => void {
    const entry = { at: this.at + ms, call };
    this.due.push(entry);
    return () => {
      this.due = this.due.filter((other) => other !== entry);
    };
  }
  pass(ms: number): void {
    this.at += ms;
    for (const entry of this.due.splice(0)) {
      if (entry.at <= this.at) entry.call();
      else this.due.push(entry);
    }
  }
}

function set(picture: () => string[]) {
  const clock = new Clock();
  const written: string[] = [];
  const terminal = { write: (text: string) => written.push(text), columns: 41 };
  return { clock, written, screen: new Screen(terminal, clock, picture) };
}

test("a picture is redrawn in place", (t) => {
  let count = 0;
  const { clock, written, screen } = set(() => [`count ${count++}`, "end"]);
  screen.refresh();
  clock.pass(250);
  screen.refresh();
  t.deepEqual(written, ["count 0\nend\n", "\u001b[2A\u001b[Jcount 1\nend\n"]);
});

test("many changes make four pictures a second at most, the last change among them", (t) => {
  let count = 0;
  const { clock, written, screen } = set(() => [`${count}`]);
  for (; count < 100; count++) {
    screen.refresh();
    clock.pass(10);
  }
  clock.pass(250);
  t.is(written.length, 5);
  t.true(written.at(-1)?.endsWith("99\n"));
});

test("a lasting line stays above the picture", (t) => {
  const { written, screen } = set(() => ["picture"]);
  screen.refresh();
  screen.print(["said"]);
  t.deepEqual(written, ["picture\n", "\u001b[1A\u001b[Jsaid\n", "picture\n"]);
});

test("a closed screen draws the last picture and nothing after it", (t) => {
  const { clock, written, screen } = set(() => ["picture"]);
  screen.refresh();
  screen.refresh();
  screen.close();
  clock.pass(1000);
  t.is(written.length, 2);
});

test("the picture gets one column less than the terminal has", (t) => {
  const widths: number[] = [];
  const screen = new Screen({ write: () => true, columns: 41 }, new Clock(), (columns) => {
    widths.push(columns);
    return [];
  });
  screen.refresh();
  t.deepEqual(widths, [40]);
});

function resizable(picture: () => string[], columns: number, rows: number) {
  const written: string[] = [];
  const terminal = { write: (text: string) => written.push(text), columns, rows };
  return { written, terminal, screen: new Screen(terminal, new Clock(), picture) };
}

test("a terminal made narrower has its broken lines erased too", (t) => {
  const { written, terminal, screen } = resizable(() => ["x".repeat(30), "", "short"], 41, 24);
  screen.refresh();
  terminal.columns = 20;
  screen.close();
  t.true(written.at(-1)?.startsWith("\u001b[4A\u001b[J"));
});

test("a terminal with few rows shows what it has room for, and nothing scrolls", (t) => {
  const { written, screen } = resizable(() => ["", "one", "two", "three"], 41, 4);
  screen.refresh();
  t.is(written.at(-1), "one\ntwo\nthree\n");
});

test("a terminal that states a size of nothing is drawn on like any other", (t) => {
  const { written, screen } = resizable(() => ["", "one"], 0, 0);
  screen.refresh();
  t.is(written.at(-1), "\none\n");
});
