import test from "ava";
import { draw } from "./curve.js";

const AXES = { x: "points", y: "steps a point" };
const numbers = (svg: string, anchor: string): string[] =>
  [...svg.matchAll(new RegExp(`text-anchor="${anchor}">([\\d.,]+)</text>`, "g"))].map(([, text]) => text!);

test("a curve has its title, its axes with round numbers from zero, and a path through each point", (t) => {
  const svg = draw("cost & more", AXES, [
    {
      name: "one",
      series: [
        [0, 3],
        [50, 7],
        [100, 5],
      ],
    },
  ]);
  t.regex(svg, /<title>cost &amp; more<\/title>/);
  t.true(svg.includes(">points</text>") && svg.includes(">steps a point</text>"));
  t.deepEqual(numbers(svg, "end"), ["0", "2", "4", "6", "8"]);
  t.deepEqual(numbers(svg, "middle"), ["0", "20", "40", "60", "80", "100"]);
  t.regex(svg, /<path class="line" stroke="var\(--a\)" d="M62 160.8L364 73.8L666 117.3"\/>/);
  t.false(svg.includes(">one<"));
});

test("a tenfold is a step where it is asked for, and several lines have a name and a bound", (t) => {
  const lines = [
    {
      name: "one",
      series: [
        [1_000, 5],
        [1_000_000, 5],
      ],
    },
    {
      name: "two",
      series: [
        [1_000, 6],
        [100_000, 6],
      ],
    },
  ] as const;
  const svg = draw("t", { ...AXES, logX: true, bounds: [{ name: "2 % more", y: 10 }] }, lines);
  t.deepEqual(numbers(svg, "middle"), ["1,000", "10,000", "100,000", "1,000,000"]);
  for (const text of ["one", "two"]) t.true(svg.includes(`>${text}</tspan>`), text);
  t.true(svg.includes(">2 % more</text>"));
  t.regex(svg, /d="M62 \d+(\.\d+)?L666 /);
});

test("a flat line at zero is drawn, nothing at all is not", (t) => {
  t.notRegex(
    draw("t", AXES, [
      {
        name: "one",
        series: [
          [0, 0],
          [1, 0],
        ],
      },
    ]),
    /NaN|Infinity/,
  );
  t.throws(() => draw("t", AXES, []), { message: /can't be drawn/ });
});
