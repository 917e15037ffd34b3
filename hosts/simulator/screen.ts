// Content of the simulator's window: the agent's state, the last point, counts, and the progress of
// an update.
import Resource from "Resource";
import Poco from "commodetto/Poco";
import parseBMF from "commodetto/parseBMF";
import type { Agent, AgentEvents } from "mote";
import Timer from "timer";
import { updateWord } from "../../src/board-module.js";
import { type Machine, Panel } from "./panel.js";
import { observePoints } from "./recorded-points.js";

const FONT = "OpenSans-Semibold-18.bf4";
/** Refresh interval of the state, which has no event, and limit for everything else. */
const REDRAW_MS = 250;
const LINE = 24;
const LEFT = 10;
const BAR = 12;
const MOST_VALUES = 5;
/** Lines of the state, the counts, the note and the update. */
const OTHER_LINES = 5;
/** The agent's own keys, shown by the progress bar. */
const OF_FIRMWARE = "fw_";

/** By state; other states mean in progress. */
const COLOURS: Readonly<Record<string, readonly [number, number, number]>> = {
  online: [0, 128, 64],
  offline: [176, 32, 32],
  refused: [176, 32, 32],
};
const UNDER_WAY = [176, 112, 0] as const;

class Display {
  private readonly _render = new Poco(screen, { displayListLength: 4096 });
  private readonly _font = parseBMF(new Resource(FONT) as never);
  private readonly _agent: Agent;
  private readonly _image: string;
  private _values: [string, unknown][] = [];
  private _recorded = 0;
  private _delivered = 0;
  private _note = "";
  private _update: AgentEvents["firmware"] | undefined;
  private _drawn = "";
  private readonly _panel: Panel | undefined;

  constructor(agent: Agent, image: string, machine?: Machine) {
    this._agent = agent;
    this._image = image;
    this._panel =
      machine &&
      new Panel(this._render, (text, colour, left, top) => this._textAt(text, colour, left, top), machine);
    agent.on("delivered", ({ points }) => {
      this._delivered += points;
    });
    agent.on("online", () => this._showNote(""));
    agent.on("offline", ({ reason }) => this._showNote(reason));
    agent.on("refused", ({ reason }) => this._showNote(reason));
    agent.on("rpc", ({ stage, method }) => stage === "received" && this._showNote(`RPC ${method}`));
    agent.on("firmware", (update) => {
      this._update = update;
    });
    Timer.repeat(() => this._draw(), REDRAW_MS);
  }

  recorded(values: Record<string, unknown>): void {
    this._recorded++;
    const own = Object.entries(values).filter(([key]) => !key.includes(OF_FIRMWARE));
    if (own.length > 0) this._values = own.slice(0, MOST_VALUES);
  }

  private _showNote(note: string): void {
    this._note = note;
  }

  private _draw(): void {
    const { state } = this._agent;
    const seen = JSON.stringify([
      state,
      this._values,
      this._recorded,
      this._delivered,
      this._note,
      this._update,
      this._panel?.shown,
    ]);
    if (seen === this._drawn) return;
    this._drawn = seen;
    const render = this._render;
    const [white, black] = [render.makeColor(255, 255, 255), render.makeColor(0, 0, 0)];
    const dim = render.makeColor(96, 96, 96);
    render.begin();
    render.fillRectangle(white, 0, 0, render.width, render.height);
    const [red, green, blue] = COLOURS[state] ?? UNDER_WAY;
    render.fillRectangle(render.makeColor(red, green, blue), 0, 0, render.width, 2 * LINE);
    this._text(this._image, white, LINE / 8);
    this._text(state, white, LINE);
    const bottom = this._panel?.top ?? render.height;
    const room = Math.max(0, Math.floor(bottom / LINE) - OTHER_LINES);
    const lines = this._values.slice(0, room).map(([key, value]) => `${key}  ${value}`);
    for (let i = 0; i < lines.length; i++) this._text(lines[i]!, black, LINE * (2.5 + i));
    this._text(`${this._recorded} recorded, ${this._delivered} delivered`, dim, bottom - 3 * LINE);
    if (this._update) this._drawUpdate(this._update, black, dim, bottom);
    else this._text(this._note, dim, bottom - 2 * LINE);
    this._panel?.draw();
    render.end();
  }

  private _drawUpdate(update: AgentEvents["firmware"], black: number, dim: number, bottom: number): void {
    const render = this._render;
    const { state, version, error, progress } = update;
    this._text(error || `${version} ${updateWord(state)}`, black, bottom - 2 * LINE);
    const done = state === "FAILED" ? 0 : state === "DOWNLOADING" ? (progress ?? 0) / 100 : 1;
    const width = render.width - 2 * LEFT;
    const top = bottom - LINE + (LINE - BAR) / 2;
    render.fillRectangle(dim, LEFT, top, width, BAR);
    render.fillRectangle(render.makeColor(0, 128, 64), LEFT, top, Math.round(width * done), BAR);
  }

  private _text(text: string, colour: number, top: number): void {
    this._textAt(text, colour, LEFT, top);
  }

  private _textAt(text: string, colour: number, left: number, top: number): void {
    this._render.drawText(text, this._font, colour, left, top, this._render.width - LEFT - left);
  }
}

/** Shows the agent until the program ends. */
export const show = (
  agent: Agent,
  { title, version }: { title: string; version: string },
  machine?: Machine,
  observe = observePoints(agent),
): void => {
  const display = new Display(agent, `${title} ${version}`, machine);
  observe((values) => display.recorded(values));
};
