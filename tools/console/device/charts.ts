// Telemetry: charts of chosen keys over a range, also as a file; and the latest value of every key.

import { csv } from "../../cli/output/csv.js";
import { ago, duration } from "../../duration.js";
import type { Reading } from "../../operator/shapes.js";
import { attempt, button, field, h, option, section } from "../dom.js";
import { clock, readable, shown, unitOf } from "../model/format.js";
import { isDrawable, LEAST_POINTS, MOST_POINTS, rowsOf, Series } from "../model/series.js";
import { endAll, type Part, type Place, unlessGone } from "../page.js";
import { cut, type Row, Table } from "../table.js";
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
/** The interval at which ages are redrawn. */
const AGES_MS = 5_000;
/** Keys that are drawn before the operator chooses. */
const FIRST = 12;
/** Mean values drawn instead of too many points. */
const MEANS = 500;
const COLUMNS = [{ text: "Key" }, { text: "Value" }, { text: "Time", size: "small" }] as const;
/** Server attribute with the units of keys: `{"temperature":"°C"}`. */
const UNITS = "units";

export function chartsPart({ session, device }: Place): Part {
  const id = device.id.id;
  const { attributes, timeSeries } = session.operator;
  const range = rangeChoice(() => load());
  const together = h("input", { type: "checkbox" });
  const choice = new KeyChoice(() => load());
  const charts = h("div", { className: "charts" });
  const none = h(
    "p",
    { className: "quiet", hidden: true },
    "No key has two numbers in this range, so there is no chart.",
  );
  const means = h("p", { className: "quiet line" });
  const values = new Table(COLUMNS, {
    empty: "No telemetry yet.",
    label: "Latest values",
    className: "compact",
  });
  const latest = new Map<string, Reading>();
  const series = new Map<string, Series>();
  let plots: readonly Plot[] = [];
  let units: unknown;
  const unit = (key: string): string => unitOf(key, units);
  let [stale, drawnAt] = [true, 0];

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
    units = (await attributes.get(id, "SERVER_SCOPE", [UNITS]))[UNITS];
    for (const [key, reading] of Object.entries(await timeSeries.latest(id))) take(key, reading);
    const [startTs, endTs] = range.bounds(Date.now());
    const bounds = { startTs, endTs: endTs + MINUTE, limit: MOST_POINTS };
    // Only drawn keys are fetched. The platform splits a key at its comma, so such a key cannot be
    // asked for.
    const keys = choice.keys.filter((key) => !key.includes(","));
    const found = keys.length === 0 ? {} : await timeSeries.range(id, { ...bounds, keys });
    // Too many points would cover only the end of the range; their means cover all of it.
    const many = keys.filter((key) => (found[key]?.length ?? 0) >= MOST_POINTS);
    const meanMs = Math.ceil((endTs - startTs) / MEANS);
    if (many.length > 0) Object.assign(found, await timeSeries.range(id, { ...bounds, keys: many, meanMs }));
    means.textContent = many.length > 0 ? `Mean of each ${duration(meanMs)}: ${many.join(", ")}` : "";
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
    plots = replaced(plots, wanted, charts, unit);
    none.hidden = all.length > 0 || latest.size === 0;
    for (const plot of plots) plot.draw(from, to);
    const now = Date.now();
    // Ages change without new values. A device may have thousands of keys.
    if (!stale && now - drawnAt < AGES_MS) return;
    [stale, drawnAt] = [false, now];
    const rows = [...latest].sort(([one], [other]) => one.localeCompare(other));
    values.show(rows.map(([key, reading]) => rowOf(key, reading, unit(key), now)));
  };
  const save = (): void => {
    const [from, to] = range.bounds(Date.now());
    const all = lines(from, to);
    if (all.length === 0) throw new Error("There is nothing to save in this range.");
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
    session.on("attributes", ({ deviceId, scope }) => {
      if (deviceId === id && scope === "SERVER_SCOPE") load();
    }),
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
      h(
        "div",
        { className: "telemetry" },
        h("div", {}, charts, means, none),
        h("div", {}, h("h3", {}, "Latest values"), values.element),
      ),
    ),
    end: endAll(
      () => clearInterval(timer),
      ...ends,
      () => {
        for (const plot of plots) plot.end();
      },
    ),
  };
}

/** The points that were read, newest first, and those that came after them. */
function merged(found: readonly Reading[], before: Series | undefined): Series {
  const series = new Series();
  for (const { ts, value } of [...found].reverse()) if (typeof value === "number") series.add(ts, value);
  const last = series.times.at(-1) ?? 0;
  before?.times.forEach((ts, i) => {
    if (ts > last) series.add(ts, before.values[i] as number);
  });
  return series;
}

function rowOf(key: string, { ts, value }: Reading, unit: string, now: number): Row {
  const text = `${readable(key, value, now)} ${typeof value === "number" ? unit : ""}`.trim();
  const time = h("span", { className: "quiet", title: clock(ts, now) }, ago(ts, now));
  return { id: key, cells: [key, cut(text, shown(value)), time] };
}

/** The plots of these lines; existing ones stay. */
function replaced(
  plots: readonly Plot[],
  wanted: readonly (readonly Line[])[],
  place: HTMLElement,
  unit: (key: string) => string,
): readonly Plot[] {
  const next = wanted.map((lines) => plots.find((one) => one.isOf(lines)) ?? new Plot(lines, unit));
  if (next.length === plots.length && next.every((one, i) => one === plots[i])) return plots;
  for (const one of plots) if (!next.includes(one)) one.end();
  place.replaceChildren(...next.map(({ element }) => element));
  return next;
}

/** A range that ends now, or a range between two times. */
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

/** The value of such a field: local time without a zone. */
function local(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
