// The panel below the status: sliders, buttons and lamps of the simulated hardware, the network's
// switch and a power cut. Each has a row, and answers touches.
import type Poco from "commodetto/Poco";
import { type Control, controls } from "mote/simulated";

/** What a program of one's own can do to its simulated machine. */
export interface Machine {
  readonly network: { readonly isOff: boolean; toggle(): void };
  /** The program ends as by a power cut, and starts again. */
  cut(): void;
}

export const ROW = 24;
const LEFT = 10;
const MIDDLE = 124;
/** Share of the width that names and values take. */
const NAMES = 0.68;

type Render = InstanceType<typeof Poco>;
type Text = (text: string, colour: number, left: number, top: number) => void;

export class Panel {
  private readonly _render: Render;
  private readonly _text: Text;
  private readonly _machine: Machine;
  private _held: Control | undefined;

  constructor(render: Render, text: Text, machine: Machine) {
    this._render = render;
    this._text = text;
    this._machine = machine;
    Object.assign(screen, {
      context: {
        onTouchBegan: (_: number, x: number, y: number) => this._press(x, y),
        onTouchMoved: (_: number, x: number) => this._move(x),
        onTouchEnded: () => this._release(),
      },
    });
  }

  get top(): number {
    return this._render.height - (controls.length + 1) * ROW;
  }

  /** Changes with what the panel shows. */
  get shown(): string {
    return JSON.stringify([controls, this._machine.network.isOff]);
  }

  draw(): void {
    const render = this._render;
    render.fillRectangle(
      render.makeColor(232, 232, 236),
      0,
      this.top,
      render.width,
      render.height - this.top,
    );
    for (let i = 0; i < controls.length; i++) this._drawControl(controls[i]!, this.top + i * ROW);
    const { isOff } = this._machine.network;
    this._button(isOff ? "network on" : "network off", isOff, LEFT / 2, render.height - ROW);
    this._button("power cut", false, MIDDLE, render.height - ROW);
  }

  private _drawControl(control: Control, top: number): void {
    const render = this._render;
    const black = render.makeColor(0, 0, 0);
    const { kind, name } = control;
    if (kind === "button") {
      this._button(name, control.isPressed, LEFT, top);
      return;
    }
    this._text(kind === "slider" ? `${name} ${round(control.now)}` : name, black, LEFT, top);
    if (kind === "lamp") {
      const colour = control.isOn ? render.makeColor(255, 176, 0) : render.makeColor(160, 160, 168);
      render.fillRectangle(colour, this._barLeft, top + 4, ROW, ROW - 8);
      return;
    }
    const width = this._barWidth;
    const share = (control.now - control.least) / (control.most - control.least);
    render.fillRectangle(render.makeColor(160, 160, 168), this._barLeft, top + ROW / 2 - 2, width, 4);
    const knob = this._barLeft + Math.round(share * (width - 8));
    render.fillRectangle(render.makeColor(0, 88, 176), knob, top + 4, 8, ROW - 8);
  }

  private _button(text: string, isPressed: boolean, left: number, top: number): void {
    const render = this._render;
    const colour = isPressed ? render.makeColor(176, 32, 32) : render.makeColor(0, 88, 176);
    render.fillRectangle(colour, left, top + 1, MIDDLE - LEFT, ROW - 3);
    this._text(text, render.makeColor(255, 255, 255), left + 4, top);
  }

  private get _barLeft(): number {
    return Math.round(this._render.width * NAMES);
  }

  private get _barWidth(): number {
    return this._render.width - LEFT - this._barLeft;
  }

  private _press(x: number, y: number): void {
    const row = Math.floor((y - this.top) / ROW);
    if (row === controls.length) {
      if (x < MIDDLE) this._machine.network.toggle();
      else this._machine.cut();
      return;
    }
    const control = controls[row];
    if (row < 0 || !control) return;
    this._held = control;
    if (control.kind === "slider") this._move(x);
    if (control.kind === "button") this._set(control, true);
  }

  private _move(x: number): void {
    const control = this._held;
    if (control?.kind !== "slider") return;
    const share = Math.min(1, Math.max(0, (x - this._barLeft) / this._barWidth));
    control.now = round(control.least + share * (control.most - control.least));
  }

  private _release(): void {
    const control = this._held;
    this._held = undefined;
    if (control?.kind === "button") this._set(control, false);
  }

  private _set(control: Control & { kind: "button" }, isPressed: boolean): void {
    control.isPressed = isPressed;
    control.onChange();
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;
