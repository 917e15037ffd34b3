// Telemetry: a chart of each key with numbers, drawn by uPlot, and the latest value of every key.

import { ref } from "lit-html/directives/ref.js";
import { repeat } from "lit-html/directives/repeat.js";
import uPlot from "uplot";
import { ago } from "../../duration.js";
import type { Reading } from "../../operator/shapes.js";
import { clock, isDrawable, readable } from "../model/format.js";
import { html, options, type TemplateResult, table } from "../ui.js";
import type { Part, Place } from "./part.js";

const MINUTE = 60_000;
const RANGES: Readonly<Record<string, number>> = {
  ...{ "5 minutes": 5 * MINUTE, "1 hour": 60 * MINUTE, "1 day": 1_440 * MINUTE },
};
/** Points that come late are found with the next reading of the whole range. */
const RANGE_MS = 10_000;
const [MOST_CHARTS, MOST_POINTS, HEIGHT] = [12, 5_000, 180];

export class Telemetry implements Part {
  readonly title = "Telemetry";
  readonly isWide = true;
  readonly #place: Place;
  #rangeMs = 5 * MINUTE;
  #readAt = 0;
  readonly #plots = new Map<string, Plot>();

  constructor(place: Place) {
    this.#place = place;
  }

  async read(): Promise<void> {
    const { id, latest, session } = this.#place;
    // The platform splits a key at its comma, so such a key cannot be asked for.
    const keys = Object.keys(latest)
      .filter((key) => isDrawable(key, latest[key]?.value) && !key.includes(","))
      .slice(0, MOST_CHARTS);
    for (const key of keys) {
      const plot = this.#plots.get(key) ?? new Plot(key);
      this.#plots.set(key, plot);
      plot.add(latest[key]!);
    }
    const now = Date.now();
    if (keys.length === 0 || now - this.#readAt < RANGE_MS) return;
    this.#readAt = now;
    const range = { keys, startTs: now - this.#rangeMs, endTs: now + MINUTE, limit: MOST_POINTS };
    const found = await session.operator.timeSeries.range(id, range);
    for (const key of keys) this.#plots.get(key)!.points = (found[key] ?? []).toReversed();
  }

  view(): TemplateResult {
    const now = Date.now();
    const entries = Object.entries(this.#place.latest).sort(([one], [other]) => one.localeCompare(other));
    const rows = entries.map(([key, { ts, value }]) => ({
      id: key,
      cells: [
        key,
        readable(key, value, now),
        html`<span class="quiet" title=${clock(ts, now)}>${ago(ts, now)}</span>`,
      ],
    }));
    const choose = ({ target }: Event): void => {
      this.#rangeMs = RANGES[(target as HTMLSelectElement).value]!;
      this.#readAt = 0;
      this.#place.refresh();
    };
    return html`<div class="row"><label>Show<select @change=${choose}>${options(Object.keys(RANGES))}</select></label></div>
      <div class="charts">
        ${repeat(
          this.#drawable(),
          ({ key }) => key,
          (plot) =>
            html`<figure aria-label=${plot.labelSince(now - this.#rangeMs)}><div ${ref(plot.attach)}></div></figure>`,
        )}
      </div>
      <h3>Latest values</h3>
      ${table("Latest values", ["Key", "Value", "Time"], rows, "No telemetry yet.")}`;
  }

  drawn(): void {
    const now = Date.now();
    for (const plot of this.#drawable()) plot.draw(now - this.#rangeMs, now);
  }

  /** A line has two points or more. */
  #drawable(): Plot[] {
    const from = Date.now() - this.#rangeMs;
    return [...this.#plots.values()].filter((plot) => plot.countSince(from) > 1);
  }
}

class Plot {
  readonly key: string;
  /** The oldest first. */
  points: Reading[] = [];
  #element: HTMLElement | undefined;
  #plot: uPlot | undefined;

  constructor(key: string) {
    this.key = key;
  }

  add(reading: Reading): void {
    if (reading.ts > (this.points.at(-1)?.ts ?? 0)) this.points.push(reading);
    if (this.points.length > MOST_POINTS) this.points.shift();
  }

  countSince(from: number): number {
    return this.points.filter(({ ts }) => ts >= from).length;
  }

  labelSince(from: number): string {
    return `${this.key}, ${this.countSince(from)} points, the last is ${String(this.points.at(-1)?.value)}`;
  }

  /** lit calls this with the element, and without one when it is removed. */
  readonly attach = (element?: Element): void => {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#element = element as HTMLElement | undefined;
  };

  draw(from: number, to: number): void {
    const width = this.#element?.clientWidth ?? 0;
    if (!this.#element || width === 0) return;
    this.#plot ??= new uPlot(optionsOf(this.key, width), [[], []], this.#element);
    if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
    const seconds = this.points.map(({ ts }) => ts / 1000);
    this.#plot.setData([seconds, this.points.map(({ value }) => value as number)], false);
    this.#plot.setScale("x", { min: from / 1000, max: to / 1000 });
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
    ...{ width, height: HEIGHT, cursor: { drag: { setScale: false } } },
    series: [{}, { label: key, stroke: colour("--accent"), width: 2, points: { show: false } }],
    axes: [
      { ...axis, space: 80, values: times },
      { ...axis, size: 60 },
    ],
  };
}
