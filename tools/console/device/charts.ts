// Telemetry: charts of the keys that were chosen, over a range, as files too; and the latest value of every key.

import { csv } from "../../cli/output/csv.js";
import type { Reading } from "../../operator/shapes.js";
import { attempt, button, field, h, option, section } from "../dom.js";
import { clock, duration, shown } from "../model/format.js";
import { isDrawable, LEAST_POINTS, MOST_POINTS, rowsOf, Series } from "../model/series.js";
import { type Part, type Place, unlessGone } from "../page.js";
import { Table } from "../table.js";
import { KeyChoice } from "./key-choice.js";
import { type Line, Plot } from "./plot.js";

const MINUTE = 60_000;
const RANGES: Record<string, number> = {
  "1 minute": MINUTE,
  "5 minutes": 5 * MINUTE,
  "1 hour": 60 * MINUTE,
  "6 hours": 360 * MINUTE,
  "1 day": 1_440 * MINUTE,
  "7 days": 10_080 * MINUTE,
};
const CUSTOM = "from … to";
/** Keys that are drawn before anybody chose. */
const FIRST = 12;
/** In place of too many points. */
const MEANS = 500;
const COLUMNS = [{ text: "Key" }, { text: "Value" }, { text: "Time", size: "large" }] as const;

export function chartsPart({ session, device }: Place): Part {
  const id = device.id.id;
  const { timeSeries } = session.operator;
  const range = rangeChoice(() => load());
  const together = h("input", { type: "checkbox" });
  const choice = new KeyChoice(() => load());
  const charts = h("div", { className: "charts" });
  const none = h(
    "p",
    { className: "quiet", hidden: true },
    "No key has two numbers in this range: there is no line to draw.",
  );
  const means = h("p", { className: "quiet line" });
  const values = new Table(COLUMNS, { empty: "No telemetry yet.", label: "Latest values" });
  const latest = new Map<string, Reading>();
  const series = new Map<string, Series>();
  let plots: { key: string; plot: Plot }[] = [];
  let stale = true;

  const seriesOf = (key: string): Series => {
    const known = series.get(key) ?? new Series();
    series.set(key, known);
    return known;
  };
  const take = (key: string, reading: Reading): void => {
    const last = latest.get(key);
    if (!last || reading.ts >= last.ts) latest.set(key, reading);
    stale = true;
    if (!isDrawable(key, reading.value)) return;
    choice.offer(key, FIRST);
    if (choice.has(key)) seriesOf(key).add(reading.ts, reading.value);
  };
  const look = async (): Promise<void> => {
    for (const [key, reading] of Object.entries(await timeSeries.latest(id))) take(key, reading);
    const [startTs, endTs] = range.bounds(Date.now());
    const bounds = { startTs, endTs: endTs + MINUTE, limit: MOST_POINTS };
    // Of a thousand keys only those are fetched that are drawn; one with a comma can't be asked for.
    const keys = choice.keys.filter((key) => !key.includes(","));
    const found = keys.length === 0 ? {} : await timeSeries.range(id, { ...bounds, keys });
    // More points than are taken would fill the end of the range alone: their means fill all of it.
    const many = keys.filter((key) => (found[key]?.length ?? 0) >= MOST_POINTS);
    const meanMs = Math.ceil((endTs - startTs) / MEANS);
    if (many.length > 0) Object.assign(found, await timeSeries.range(id, { ...bounds, keys: many, meanMs }));
    means.textContent = many.length > 0 ? `Means of ${duration(meanMs)}: ${many.join(", ")}` : "";
    for (const key of keys) series.set(key, merged(found[key] ?? [], series.get(key)));
    stale = true;
  };
  const load = (): void => void look().catch(unlessGone);
  const lines = (from: number, to: number): Line[] =>
    choice.keys
      .map((key) => ({ key, series: seriesOf(key) }))
      .filter((line) => line.series.countIn(from, to) >= LEAST_POINTS);
  const draw = (): void => {
    const [from, to] = range.bounds(Date.now());
    const all = lines(from, to);
    const wanted = together.checked && all.length > 0 ? [all] : all.map((line) => [line]);
    plots = replaced(plots, wanted, charts);
    none.hidden = all.length > 0 || latest.size === 0;
    for (const { plot } of plots) plot.draw(from, to);
    if (!stale) return;
    stale = false;
    const rows = [...latest].sort(([one], [other]) => one.localeCompare(other));
    values.show(
      rows.map(([key, { ts, value }]) => ({ id: key, cells: [key, shown(value), clock(ts, Date.now())] })),
    );
  };
  const save = (): void => {
    const [from, to] = range.bounds(Date.now());
    const all = lines(from, to);
    if (all.length === 0) throw new Error("There is nothing in this range to save.");
    const rows = rowsOf(
      all.map((line) => line.series),
      from,
      to,
    );
    const text = csv(
      ["time", ...all.map(({ key }) => key)],
      rows.map(([ts, ...row]) => [new Date(ts).toISOString(), ...row.map((value) => value ?? "")]),
    );
    download(`${device.name.replace(/[^\p{L}\p{N}._-]+/gu, "_")}-telemetry.csv`, text);
  };

  together.onchange = draw;
  load();
  const ends = [
    session.on("telemetry", ({ deviceId, ts, values: points }) => {
      if (deviceId !== id) return;
      for (const [key, value] of Object.entries(points)) take(key, { ts, value });
    }),
    session.on("line", ({ up }) => up && load()),
  ];
  const timer = setInterval(draw, 500);
  return {
    element: section(
      "Telemetry",
      "card wide",
      h(
        "div",
        { className: "row tools" },
        range.element,
        choice.element,
        h("label", { className: "check" }, together, "All in one chart"),
        button("Save as CSV", () => attempt(async () => save()), "second"),
      ),
      ...[charts, means, none, h("h3", {}, "Latest values"), values.element],
    ),
    end: () => {
      clearInterval(timer);
      for (const end of ends) end();
      for (const { plot } of plots) plot.end();
    },
  };
}

/** What was read, the newest first, and what came after it. */
function merged(found: readonly Reading[], before: Series | undefined): Series {
  const series = new Series();
  for (const { ts, value } of [...found].reverse()) if (typeof value === "number") series.add(ts, value);
  const last = series.times.at(-1) ?? 0;
  before?.times.forEach((ts, i) => {
    if (ts > last) series.add(ts, before.values[i] as number);
  });
  return series;
}

/** The plots of these lines: those that are there already stay. */
function replaced(
  plots: readonly { key: string; plot: Plot }[],
  wanted: readonly (readonly Line[])[],
  place: HTMLElement,
): { key: string; plot: Plot }[] {
  const next = wanted.map((lines) => {
    const key = JSON.stringify(lines.map((line) => line.key));
    const known = plots.find((one) => one.key === key && one.plot.isOf(lines));
    return known ?? { key, plot: new Plot(lines) };
  });
  if (next.length === plots.length && next.every((one, i) => one === plots[i])) return next;
  for (const one of plots) if (!next.includes(one)) one.plot.end();
  place.replaceChildren(...next.map(({ plot }) => plot.element));
  return next;
}

/** A range that ends now, or one between two moments. */
function rangeChoice(onChange: () => void): {
  element: HTMLElement;
  bounds(now: number): readonly [from: number, to: number];
} {
  const select = h("select", {}, ...[...Object.keys(RANGES), CUSTOM].map((name) => option(name)));
  select.value = "5 minutes";
  const from = h("input", { type: "datetime-local", step: "1" });
  const to = h("input", { type: "datetime-local", step: "1" });
  const custom = h("span", { className: "row", hidden: true }, field("From", from), field("To", to));
  const bounds = (now: number): readonly [number, number] => {
    const length = RANGES[select.value];
    if (length !== undefined) return [now - length, now];
    const [start, end] = [Date.parse(from.value), Date.parse(to.value)];
    const last = Number.isNaN(end) ? now : end;
    return [Number.isNaN(start) || start >= last ? last - 60 * MINUTE : start, last];
  };
  select.onchange = () => {
    custom.hidden = select.value !== CUSTOM;
    if (!custom.hidden && to.value === "") {
      const now = Date.now();
      from.value = local(now - 60 * MINUTE);
      to.value = local(now);
    }
    onChange();
  };
  from.onchange = onChange;
  to.onchange = onChange;
  return { element: h("span", { className: "row" }, field("Show", select, "short"), custom), bounds };
}

/** As such a field takes it: the time of this place, without a zone. */
function local(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
