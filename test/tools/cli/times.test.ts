import test from "ava";
import { csv } from "../../../tools/cli/output/csv.js";
import { parseLast, parseTime } from "../../../tools/cli/times.js";

const NOW = new Date(2026, 0, 31, 12, 30).getTime();

test("a time is a date, a moment, milliseconds, or a while ago", (t) => {
  const day = (month: number, date: number, hour = 0) => new Date(2026, month, date, hour).getTime();
  for (const [text, ms] of [
    ["now", NOW],
    ["today", day(0, 31)],
    ["yesterday", day(0, 30)],
    ["-7d", NOW - 7 * 86_400_000],
    ["-90s", NOW - 90_000],
    ["2026-01-30", day(0, 30)],
    ["2026-01-30T06:00", day(0, 30, 6)],
    ["2026-01-30T06:00:01.5Z", Date.UTC(2026, 0, 30, 6, 0, 1, 500)],
    ["2026-01-30T06:00+02:00", Date.UTC(2026, 0, 30, 4)],
    ["1760000000000", 1_760_000_000_000],
  ] as const)
    t.is(parseTime(text, NOW), ms, text);
});

test("up to a day includes it; up to a moment ends there", (t) => {
  const before = (month: number, date: number) => new Date(2026, month, date).getTime() - 1;
  for (const [text, ms] of [
    ["today", before(1, 1)],
    ["yesterday", before(0, 31)],
    ["2026-01-30", before(0, 31)],
    ["2026-01-30T00:00", before(0, 30) + 1],
    ["now", NOW],
    ["-1d", NOW - 86_400_000],
    ["1760000000000", 1_760_000_000_000],
  ] as const)
    t.is(parseLast(text, NOW), ms, text);
});

test("what is no time is refused", (t) => {
  for (const text of [
    "",
    "soon",
    "2026-02-30",
    "2026-13-01",
    "2026-1-1",
    "1760000000",
    "-7",
    "-7y",
    "+7d",
    "2026-01-30T25:00",
  ])
    t.throws(() => parseTime(text, NOW), { message: /It is a date/, any: true }, text);
});

test("CSV quotes what needs it, and no field is a formula", (t) => {
  t.is(
    csv(
      ["a,b", 'c"d'],
      [
        ["x\ny", undefined],
        [-5, "-5"],
        ["=1+1", "+49 30"],
        ["@a", true],
        [{ a: 1 }, ""],
        ["", ""],
        ["\n=1", "＝1"],
      ],
    ),
    '"a,b","c""d"\r\n"x\ny",\r\n-5,-5\r\n"\'=1+1","\'+49 30"\r\n"\'@a",true\r\n"{""a"":1}",\r\n,\r\n"\'\n=1","\'＝1"\r\n',
  );
});
