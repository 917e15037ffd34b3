// One chart of one key or several, drawn by uPlot.
import uPlot from "uplot";
import { h, show } from "../dom.js";
import { clock, rounded, tick } from "../model/format.js";
import { rowsOf, type Series } from "../model/series.js";

const HEIGHT = 180;
/** The number of distinguishable colours. The style sheet names them --line-0 to --line-5. */
export const COLOURS = 6;
/** Width of a digit, and the space around a label of an axis, in CSS pixels. */
const [DIGIT, SPACE] = [7, 16];

export interface Line {
  key: string;
  series: Series;
}

export class Plot {
  readonly element: HTMLElement;
  readonly #lines: readonly Line[];
  readonly #tip = h("div", { className: "tip", hidden: true });
  readonly #place = h("div", { className: "plot" }, this.#tip);
  readonly #unitOf: (key: string) => string;
  readonly #last: HTMLElement[];
  #plot: uPlot | undefined;
  #span = 0;

  constructor(lines: readonly Line[], unitOf: (key: string) => string) {
    this.#lines = lines;
    this.#unitOf = unitOf;
    this.#last = lines.map(() => h("span", { className: "last" }));
    const legend = lines.map(({ key }, i) => {
      const mark = h("span", { className: lines.length > 1 ? `mark line-${i % COLOURS}` : "" });
      return h(
        "span",
        { className: "key" },
        mark,
        h("span", { className: "cut", title: key }, key),
        this.#last[i],
      );
    });
    this.element = h("figure", {}, h("figcaption", {}, ...legend), this.#place);
  }

  /** Whether it draws these lines, not older ones of the same names. */
  isOf(lines: readonly Line[]): boolean {
    return (
      lines.length === this.#lines.length && lines.every(({ series }, i) => series === this.#lines[i]?.series)
    );
  }

  /** Draws the points from `from` on, before `to`. */
  draw(from: number, to: number): void {
    const rows = rowsOf(
      this.#lines.map(({ series }) => series),
      from,
      to,
    );
    const columns = this.#lines.map((_, i) => rows.map((row) => row[i + 1] ?? null));
    this.#name(columns);
    const width = this.#place.clientWidth;
    if (width === 0) return;
    this.#span = (to - from) / 1000;
    this.#plot ??= new uPlot(this.#options(width), [[], ...this.#lines.map(() => [])], this.#place);
    if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
    this.#plot.setData([rows.map(([ts]) => ts / 1000), ...columns], false);
    this.#plot.setScale("x", { min: from / 1000, max: to / 1000 });
  }

  end(): void {
    this.#plot?.destroy();
  }

  #name(columns: readonly (number | null)[][]): void {
    const parts = this.#lines.map(({ key }, i) => {
      const values = (columns[i] ?? []).filter((value) => value !== null);
      const last = values.at(-1);
      const place = this.#last[i];
      if (place) show(place, last === undefined ? "" : this.#valueOf(key, rounded(last)));
      const end = last === undefined ? "" : `, the last is ${this.#valueOf(key, String(last))}`;
      return `${key}, ${values.length} points${end}`;
    });
    const label = parts.join("; ");
    if (this.element.ariaLabel !== label) this.element.ariaLabel = label;
  }

  #valueOf(key: string, value: string): string {
    return `${value} ${this.#unitOf(key)}`.trim();
  }

  /** Time and values under the pointer. */
  #point({ cursor: { idx, left = -1 }, data, bbox }: uPlot): void {
    const ts = idx === null || idx === undefined || left < 0 ? undefined : data[0]?.[idx];
    this.#tip.hidden = ts === undefined;
    if (ts === undefined) return;
    const values = this.#lines.flatMap(({ key }, i) => {
      const value = data[i + 1]?.[idx as number];
      const name = this.#lines.length > 1 ? `${key} ` : "";
      return typeof value === "number" ? [h("p", {}, `${name}${this.#valueOf(key, rounded(value))}`)] : [];
    });
    show(this.#tip, ...values, h("p", { className: "quiet" }, clock(ts * 1000, Date.now())));
    // Beside the pointer, inside the chart.
    const [start, end] = [bbox.left, bbox.left + bbox.width].map((x) => x / devicePixelRatio) as [
      number,
      number,
    ];
    const isRight = left > (end - start) / 2;
    this.#tip.style.left = isRight ? "" : `${start + left + 12}px`;
    this.#tip.style.right = isRight ? `${this.#place.clientWidth - start - left + 12}px` : "";
  }

  #options(width: number): uPlot.Options {
    const colour = (name: string) => (): string =>
      getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--quiet"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
    // Lines of one unit share an axis: the first on the left, others on the right.
    const scaleOf = ({ key }: Line): string => this.#unitOf(key) || "y";
    const scales = [...new Set(this.#lines.map(scaleOf))];
    const widest = (labels: readonly string[] | null): number =>
      SPACE + DIGIT * Math.max(2, ...(labels ?? []).map(({ length }) => length));
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { setScale: false } },
      hooks: { setCursor: [(plot) => this.#point(plot)] },
      scales: { x: { time: false } },
      series: [
        {},
        ...this.#lines.map((line, i) => ({
          scale: scaleOf(line),
          stroke: colour(this.#lines.length > 1 ? `--line-${i % COLOURS}` : "--accent"),
          width: 2,
          // Keys with other times leave gaps in a shared chart.
          spanGaps: true,
          points: { show: false },
        })),
      ],
      axes: [
        {
          ...axis,
          values: (_plot, ticks) => ticks.map((at) => tick(at, this.#span)),
          incrs: TIMES,
          space: 80,
          size: 28,
        },
        ...scales.map((scale, i) => ({
          ...axis,
          ...(i > 0 && { side: 1 as const, grid: { show: false } }),
          scale,
          size: (_plot: uPlot, labels: readonly string[] | null): number => widest(labels),
          ...(scales.length > 1 && scale !== "y" && { label: scale, labelSize: 16 }),
        })),
      ],
    };
  }
}

/** Seconds between the marks of the axis of time. */
const TIMES = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 12].map((hours) => hours * 3_600),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * 86_400),
];
