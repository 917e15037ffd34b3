// Line charts as SVG for docs/bench, in the reader's light or dark colours. `npm run bench` draws them.
import { scaleLinear, scaleLog } from "d3-scale";

/** How the series of a row's lines are drawn, to docs/bench/row-NN.svg. */
export interface Curve {
  /** What the axes are, with the unit. */
  readonly x: string;
  readonly y: string;
  /** A tenfold is a step on the x axis. */
  readonly logX?: boolean;
  /** Straight lines to compare with. */
  readonly bounds?: readonly { readonly name: string; readonly y: number }[];
}

/** x and y of each point, x rising. */
export type Series = readonly (readonly [x: number, y: number])[];

export interface Named {
  readonly name: string;
  readonly series: Series;
}

const WIDTH = 700;
const HEIGHT = 270;
const LEFT = 62;
const RIGHT = WIDTH - 34;
const TOP = 52;
const BOTTOM = HEIGHT - 44;
/** About so many. */
const TICKS = 4;

const STYLE = `<style>
svg { --ink: #1f2328; --dim: #656d76; --grid: #d8dee4; --a: #0969da; --b: #bc4c00; --c: #1a7f37; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --dim: #9198a1; --grid: #30363d; --a: #4493f8; --b: #f0883e; --c: #3fb950; } }
text { font: 12px system-ui, sans-serif; fill: var(--dim); }
tspan { font-weight: 600; }
.title { font-weight: 600; fill: var(--ink); }
.grid { stroke: var(--grid); }
.bound { stroke: var(--dim); stroke-dasharray: 4 4; }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
</style>`;
const COLORS = ["a", "b", "c"] as const;

/** The chart as the text of a file. Throws if there is nothing to draw, or more lines than can be distinguished. */
export function draw(title: string, curve: Curve, lines: readonly Named[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`;
  const parts = partsOf(title, curve, lines);
  return `${[head, `<title>${escaped(title)}</title>`, STYLE, ...parts, "</svg>"].join("\n")}\n`;
}

function partsOf(title: string, curve: Curve, lines: readonly Named[]): string[] {
  const points = lines.flatMap(({ series }) => series);
  if (points.length === 0 || lines.length > COLORS.length)
    throw new Error(`${lines.length} lines of ${points.length} points can't be drawn`);
  const bounds = curve.bounds ?? [];
  const high = Math.max(...[...points, ...bounds.map(({ y }) => [0, y] as const)].map(([, y]) => y));
  const { x, xTicks } = acrossOf(
    points.map(([at]) => at),
    curve.logX,
  );
  const rising = scaleLinear([0, high || 1], [BOTTOM, TOP]).nice(TICKS);
  const y = rounded(rising);
  const yTicks = rising.ticks(TICKS);
  const across = (at: number, kind: string) =>
    `<path class="${kind}" d="M${LEFT} ${y(at)}H${RIGHT}" stroke-width="1"/>`;
  return [
    text(LEFT, 16, title, 'class="title"'),
    ...yTicks.flatMap((at) => [
      across(at, "grid"),
      text(LEFT - 8, y(at) + 4, shown(at), 'text-anchor="end"'),
    ]),
    ...xTicks.map((at) => text(x(at), BOTTOM + 17, shown(at), 'text-anchor="middle"')),
    ...bounds.flatMap(({ name, y: at }) => [
      across(at, "bound"),
      text(RIGHT, y(at) - 5, name, 'text-anchor="end"'),
    ]),
    text((LEFT + RIGHT) / 2, HEIGHT - 8, curve.x, 'text-anchor="middle"'),
    text(
      14,
      (TOP + BOTTOM) / 2,
      curve.y,
      `text-anchor="middle" transform="rotate(-90 14 ${(TOP + BOTTOM) / 2})"`,
    ),
    ...lines.map(({ series }, i) => {
      const path = series.map(([px, py]) => `${x(px)} ${y(py)}`).join("L");
      return `<path class="line" stroke="var(--${COLORS[i]})" d="M${path}"/>`;
    }),
    ...legend(lines),
  ];
}

/** What each line is, below the title. One line needs no name. */
function legend(lines: readonly Named[]): string[] {
  if (lines.length < 2) return [];
  const names = lines.map(
    ({ name }, i) => `<tspan fill="var(--${COLORS[i]})" dx="14">${escaped(name)}</tspan>`,
  );
  return [`<text x="${LEFT - 14}" y="33">${names.join("")}</text>`];
}

/** The x axis: it begins at a round value, and ends where the lines do. */
function acrossOf(values: readonly number[], logX = false) {
  const most = Math.max(...values);
  const scale = (logX ? scaleLog : scaleLinear)([Math.min(...values), most], [LEFT, RIGHT]).nice(TICKS);
  scale.domain([scale.domain()[0]!, most]);
  const xTicks = logX ? scale.ticks().filter((at) => Number.isInteger(Math.log10(at))) : scale.ticks(TICKS);
  return { x: rounded(scale), xTicks };
}

/** To a tenth of a pixel. */
const rounded = (scale: (value: number) => number) => (value: number) => Math.round(scale(value) * 10) / 10;

const shown = (value: number): string => value.toLocaleString("en-US");

function text(x: number, y: number, content: string, more: string): string {
  return `<text x="${x}" y="${y}" ${more}>${escaped(content)}</text>`;
}

const escaped = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
