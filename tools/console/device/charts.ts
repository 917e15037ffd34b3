// Telemetry: a chart of each key with numbers, and the latest value of every key.
import uPlot from "uplot";
import { ago } from "../../duration.js";
import type { Reading } from "../../operator/shapes.js";
import { field, h, option, section } from "../dom.js";
import { clock, readable, shown } from "../model/format.js";
import { isDrawable, MOST_POINTS, Series } from "../model/series.js";
import { endAll, type Part, type Place, unlessGone } from "../page.js";
import { cut, type Row, Table } from "../table.js";

const MINUTE = 60_000;
const RANGES: Record<string, number> = {
  "5 minutes": 5 * MINUTE,
  "1 hour": 60 * MINUTE,
  "1 day": 1_440 * MINUTE,
};
/** The interval at which charts move. */
const DRAW_MS = 500;
/** The interval at which ages are redrawn. */
const AGES_MS = 5_000;
const MOST_CHARTS = 12;
const HEIGHT = 180;
const COLUMNS = [{ text: "Key" }, { text: "Value" }, { text: "Time", size: "small" }] as const;

export function chartsPart({ session, device }: Place): Part {
  const id = device.id.id;
  const { timeSeries } = session.operator;
  const range = h("select", {}, ...Object.keys(RANGES).map((name) => option(name)));
  const charts = h("div", { className: "charts" });
  const none = h(
    "p",
    { className: "quiet", hidden: true },
    "No key has two numbers in this range, so there is no chart.",
  );
  const values = new Table(COLUMNS, {
    empty: "No telemetry yet.",
    label: "Latest values",
    className: "compact",
  });
  const latest = new Map<string, Reading>();
  const series = new Map<string, Series>();
  const plots = new Map<string, Plot>();
  let [stale, drawnAt] = [true, 0];

  const take = (key: string, reading: Reading): void => {
    const last = latest.get(key);
    if (!last || reading.ts >= last.ts) latest.set(key, reading);
    stale = true;
    if (!isDrawable(key, reading.value)) return;
    const known = series.get(key) ?? (series.size < MOST_CHARTS ? new Series() : undefined);
    if (!known) return;
    series.set(key, known);
    known.add(reading.ts, reading.value);
  };
  const look = async (): Promise<void> => {
    for (const [key, reading] of Object.entries(await timeSeries.latest(id))) take(key, reading);
    // The platform splits a key at its comma, so such a key cannot be asked for.
    const keys = [...series.keys()].filter((key) => !key.includes(","));
    if (keys.length === 0) return;
    const now = Date.now();
    const bounds = { startTs: now - RANGES[range.value]!, endTs: now + MINUTE, limit: MOST_POINTS };
    const found = await timeSeries.range(id, { ...bounds, keys });
    for (const key of keys) for (const reading of found[key]?.toReversed() ?? []) take(key, reading);
  };
  const load = (): void => void look().catch(unlessGone);
  const draw = (): void => {
    const now = Date.now();
    const from = now - RANGES[range.value]!;
    for (const [key, points] of series) {
      const count = points.countIn(from, now);
      // A line has two points or more.
      const isShown = count > 1;
      if (isShown && !plots.has(key)) plots.set(key, new Plot(key));
      const plot = plots.get(key);
      if (!plot) continue;
      if (isShown && !plot.element.isConnected) charts.append(plot.element);
      if (isShown) plot.draw(points, count, from, now);
      else plot.element.remove();
    }
    none.hidden = charts.childElementCount > 0 || latest.size === 0;
    // Ages change without new values. A device may have thousands of keys.
    if (!stale && now - drawnAt < AGES_MS) return;
    [stale, drawnAt] = [false, now];
    const rows = [...latest].sort(([one], [other]) => one.localeCompare(other));
    values.show(rows.map(([key, reading]) => rowOf(key, reading, now)));
  };

  range.onchange = load;
  load();
  const timer = setInterval(draw, DRAW_MS);
  return {
    element: section(
      "Telemetry",
      "card wide",
      h("div", { className: "row tools" }, field("Show", range, "short")),
      h(
        "div",
        { className: "telemetry" },
        h("div", {}, charts, none),
        h("div", {}, h("h3", {}, "Latest values"), values.element),
      ),
    ),
    end: endAll(
      () => clearInterval(timer),
      session.on("telemetry", ({ deviceId, ts, values: points }) => {
        if (deviceId !== id) return;
        for (const [key, value] of Object.entries(points)) take(key, { ts, value });
      }),
      session.on("line", ({ up }) => up && load()),
      () => {
        for (const plot of plots.values()) plot.end();
      },
    ),
  };
}

function rowOf(key: string, { ts, value }: Reading, now: number): Row {
  const time = h("span", { className: "quiet", title: clock(ts, now) }, ago(ts, now));
  return { id: key, cells: [key, cut(readable(key, value, now), shown(value)), time] };
}

/** The chart of one key, drawn by uPlot. Its legend shows the point under the pointer. */
class Plot {
  readonly element: HTMLElement;
  readonly #key: string;
  readonly #place = h("div", {});
  #plot: uPlot | undefined;

  constructor(key: string) {
    this.#key = key;
    this.element = h("figure", {}, this.#place);
  }

  /** `count`: points from `from` on, before `to`. */
  draw({ times, values }: Series, count: number, from: number, to: number): void {
    const label = `${this.#key}, ${count} points, the last is ${values.at(-1)}`;
    if (this.element.ariaLabel !== label) this.element.ariaLabel = label;
    const width = this.#place.clientWidth;
    if (width === 0) return;
    this.#plot ??= new uPlot(optionsOf(this.#key, width), [[], []], this.#place);
    if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
    this.#plot.setData([times.map((ts) => ts / 1000), values], false);
    this.#plot.setScale("x", { min: from / 1000, max: to / 1000 });
  }

  end(): void {
    this.#plot?.destroy();
  }
}

function optionsOf(key: string, width: number): uPlot.Options {
  const colour = (name: string) => (): string =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const times = (_: uPlot, seconds: number[]): string[] => seconds.map((at) => clock(at * 1000, Date.now()));
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { setScale: false } },
    series: [{}, { label: key, stroke: colour("--accent"), width: 2, points: { show: false } }],
    axes: [
      { ...axis, space: 80, values: times },
      { ...axis, size: 60 },
    ],
  };
}
