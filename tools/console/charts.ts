// Telemetry: a live chart for each key of numbers, and the latest value of every key.
import uPlot from "uplot";
import type { Reading } from "../operator/shapes.js";
import { clock, field, h, option, section, shown, table } from "./dom.js";
import type { Part, Place } from "./page.js";

const WINDOWS = { "1 minute": 60, "5 minutes": 300, "1 hour": 3_600, "1 day": 86_400 } as const;
const MOST_CHARTS = 12;
const MOST_POINTS = 5_000;
const HEIGHT = 150;

export function chartsPart({ session, device }: Place): Part {
  const id = device.id.id;
  const { timeSeries } = session.operator;
  const charts = h("div", { className: "charts" });
  const values = h("div", {});
  const span = h("select", {}, ...Object.keys(WINDOWS).map((name) => option(name)));
  span.value = "5 minutes";
  const latest = new Map<string, Reading>();
  let lines = new Map<string, Line>();
  let stale = true;

  const seconds = (): number => WINDOWS[span.value as keyof typeof WINDOWS];
  const lineOf = (key: string): Line | undefined => {
    const known = lines.get(key);
    if (known || lines.size >= MOST_CHARTS) return known;
    const line = new Line(key);
    lines.set(key, line);
    charts.append(line.element);
    return line;
  };
  const take = (key: string, reading: Reading): void => {
    const last = latest.get(key);
    if (!last || reading.ts >= last.ts) latest.set(key, reading);
    if (isDrawn(key, reading.value)) lineOf(key)?.add(reading.ts, reading.value);
    stale = true;
  };
  const load = async (): Promise<void> => {
    const newest = Object.entries(await timeSeries.latest(id));
    for (const line of lines.values()) line.end();
    lines = new Map();
    charts.replaceChildren();
    for (const [key, reading] of newest) latest.set(key, reading);
    stale = true;
    // Of a thousand keys only those are fetched that are drawn; one with a comma can't be asked for.
    const keys = newest.filter(([key, { value }]) => isDrawn(key, value) && !key.includes(","));
    const endTs = Date.now() + 60_000;
    const found = await timeSeries.range(id, {
      keys: keys.map(([key]) => key).slice(0, MOST_CHARTS),
      startTs: endTs - 60_000 - seconds() * 1_000,
      endTs,
      limit: MOST_POINTS,
    });
    for (const [key, readings] of Object.entries(found))
      for (const reading of readings.reverse()) take(key, reading);
  };
  const draw = (): void => {
    for (const line of lines.values()) line.draw(seconds());
    if (!stale) return;
    stale = false;
    const rows = [...latest]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([key, { ts, value }]) => [key, shown(value), clock(ts)]);
    values.replaceChildren(
      rows.length > 0 ? table(["Key", "Value", "Time"], rows) : h("p", {}, "No telemetry yet."),
    );
  };

  span.onchange = () => void load();
  void load();
  const ends = [
    session.on("telemetry", ({ deviceId, ts, values: points }) => {
      if (deviceId !== id) return;
      for (const [key, value] of Object.entries(points)) take(key, { ts, value });
    }),
    session.on("line", ({ up }) => up && void load()),
  ];
  const timer = setInterval(draw, 500);
  return {
    element: section(
      "Telemetry",
      "card wide",
      field("Show", span, "inline"),
      charts,
      h("h3", {}, "Latest values"),
      values,
    ),
    end: () => {
      clearInterval(timer);
      for (const end of ends) end();
      for (const line of lines.values()) line.end();
    },
  };
}

/** The progress of an update is shown elsewhere. */
function isDrawn(key: string, value: unknown): value is number {
  return typeof value === "number" && !key.startsWith("fw_");
}

/** The chart of one key. */
class Line {
  readonly element: HTMLElement;
  readonly #key: string;
  readonly #place = h("div", {});
  #times: number[] = [];
  #values: number[] = [];
  #plot: uPlot | undefined;
  #stale = true;

  constructor(key: string) {
    this.#key = key;
    this.element = h("figure", {}, h("figcaption", {}, key), this.#place);
  }

  /** A point that comes late goes to its place. */
  add(ts: number, value: number): void {
    const time = ts / 1_000;
    let at = this.#times.length;
    while (at > 0 && (this.#times[at - 1] as number) >= time) at--;
    const isSame = this.#times[at] === time;
    this.#times.splice(at, isSame ? 1 : 0, time);
    this.#values.splice(at, isSame ? 1 : 0, value);
    if (this.#times.length > MOST_POINTS) {
      this.#times.shift();
      this.#values.shift();
    }
    this.#stale = true;
  }

  draw(seconds: number): void {
    const now = Date.now() / 1_000;
    const width = this.#place.clientWidth || 300;
    this.#plot ??= new uPlot(options(width), [[], []], this.#place);
    if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
    if (this.#stale) {
      this.#plot.setData([this.#times, this.#values], false);
      const last = this.#values.at(-1);
      this.element.setAttribute(
        "aria-label",
        `${this.#key}, ${this.#values.length} points, the last is ${last}`,
      );
    }
    this.#stale = false;
    this.#plot.setScale("x", { min: now - seconds, max: now });
  }

  end(): void {
    this.#plot?.destroy();
  }
}

function options(width: number): uPlot.Options {
  const colour = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { setScale: false } },
    series: [{}, { stroke: colour("--accent"), width: 2, points: { show: false } }],
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((tick) => clock(tick * 1_000)), space: 70, size: 28 },
      { ...axis, size: 50 },
    ],
  };
}
