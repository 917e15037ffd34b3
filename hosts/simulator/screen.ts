// What the simulator's window shows: the agent's state, the last point, how many were recorded and delivered, and how an update goes.
import Resource from "Resource";
import Poco from "commodetto/Poco";
import parseBMF from "commodetto/parseBMF";
import type { Agent, AgentEvents } from "mote";
import Timer from "timer";

const FONT = "OpenSans-Semibold-18.bf4";
/** Of the state, which has no event of its own, and at most of all else. */
const REDRAW_MS = 250;
const LINE = 24;
const LEFT = 10;
const BAR = 12;
const MOST_VALUES = 5;
/** In keys of the agent's own points, which the bar tells. */
const OF_FIRMWARE = "fw_";

/** By state; what is not named is under way. */
const COLOURS: Readonly<Record<string, readonly [number, number, number]>> = {
  online: [0, 128, 64],
  offline: [176, 32, 32],
  refused: [176, 32, 32],
};
const UNDER_WAY = [176, 112, 0] as const;

class Display {
  readonly #render = new Poco(screen, { displayListLength: 4096 });
  readonly #font = parseBMF(new Resource(FONT) as never);
  readonly #agent: Agent;
  readonly #image: string;
  #values: [string, unknown][] = [];
  #recorded = 0;
  #delivered = 0;
  #note = "";
  #update: AgentEvents["firmware"] | undefined;
  #drawn = "";

  constructor(agent: Agent, image: string) {
    this.#agent = agent;
    this.#image = image;
    agent.on("delivered", ({ points }) => {
      this.#delivered += points;
    });
    agent.on("online", () => this.#tell(""));
    agent.on("offline", ({ reason }) => this.#tell(reason));
    agent.on("refused", ({ reason }) => this.#tell(reason));
    agent.on("rpc", ({ stage, method }) => stage === "received" && this.#tell(`RPC ${method}`));
    agent.on("firmware", (update) => {
      this.#update = update;
    });
    Timer.repeat(() => this.#draw(), REDRAW_MS);
  }

  recorded(values: Record<string, unknown>): void {
    this.#recorded++;
    const own = Object.entries(values).filter(([key]) => !key.includes(OF_FIRMWARE));
    if (own.length > 0) this.#values = own.slice(0, MOST_VALUES);
  }

  #tell(note: string): void {
    this.#note = note;
  }

  #draw(): void {
    const { state } = this.#agent;
    const seen = JSON.stringify([
      state,
      this.#values,
      this.#recorded,
      this.#delivered,
      this.#note,
      this.#update,
    ]);
    if (seen === this.#drawn) return;
    this.#drawn = seen;
    const render = this.#render;
    const [white, black] = [render.makeColor(255, 255, 255), render.makeColor(0, 0, 0)];
    const dim = render.makeColor(96, 96, 96);
    render.begin();
    render.fillRectangle(white, 0, 0, render.width, render.height);
    render.fillRectangle(render.makeColor(...(COLOURS[state] ?? UNDER_WAY)), 0, 0, render.width, 2 * LINE);
    this.#text(this.#image, white, LINE / 8);
    this.#text(state, white, LINE);
    const lines = this.#values.map(([key, value]) => `${key}  ${value}`);
    for (let i = 0; i < lines.length; i++) this.#text(lines[i]!, black, LINE * (2.5 + i));
    this.#text(`${this.#recorded} recorded`, dim, render.height - 5 * LINE);
    this.#text(`${this.#delivered} delivered`, dim, render.height - 4 * LINE);
    this.#text(this.#note, dim, render.height - 3 * LINE);
    this.#drawUpdate(black, dim);
    render.end();
  }

  #drawUpdate(black: number, dim: number): void {
    const update = this.#update;
    if (!update) return;
    const render = this.#render;
    const { state, version, error, progress } = update;
    this.#text(error || `${version} ${state}`, black, render.height - 2 * LINE);
    const done = state === "FAILED" ? 0 : state === "DOWNLOADING" ? (progress ?? 0) / 100 : 1;
    const width = render.width - 2 * LEFT;
    const top = render.height - LINE + (LINE - BAR) / 2;
    render.fillRectangle(dim, LEFT, top, width, BAR);
    render.fillRectangle(render.makeColor(0, 128, 64), LEFT, top, Math.round(width * done), BAR);
  }

  #text(text: string, colour: number, top: number): void {
    this.#render.drawText(text, this.#font, colour, LEFT, top, this.#render.width - 2 * LEFT);
  }
}

/** Shows the agent for as long as the program runs. */
export function show(agent: Agent, { title, version }: { title: string; version: string }): void {
  const display = new Display(agent, `${title} ${version}`);
  const { telemetry } = agent;
  const record = telemetry.record.bind(telemetry);
  // Not an assignment: methods lie in ROM, where their names can't be taken by one.
  Object.defineProperty(telemetry, "record", {
    value(values: Record<string, unknown>, options?: Parameters<typeof record>[1]): boolean {
      const taken = record(values, options);
      display.recorded(values);
      return taken;
    },
  });
}
