// `mote/simulated` in the simulator: the panel beside the status screen shows and changes these
// values.
import type { Button, Range } from "../device/simulated.js";

export type Control =
  | ({ readonly kind: "slider"; readonly name: string; now: number } & Range)
  | { readonly kind: "button"; readonly name: string; isPressed: boolean; readonly onChange: () => void }
  | { readonly kind: "lamp"; readonly name: string; isOn: boolean };

/** In the order of their creation. This module must not be preloaded, because the list changes. */
export const controls: Control[] = [];

export const slider = (name: string, { least, most, value }: Range): (() => number) => {
  const control = { kind: "slider" as const, name, least, most, value, now: value };
  controls.push(control);
  return () => control.now;
};

export const button = (name: string, onChange: () => void = () => {}): Button => {
  const control = { kind: "button" as const, name, isPressed: false, onChange };
  controls.push(control);
  return control;
};

export const lamp = (name: string): ((on: boolean) => void) => {
  const control = { kind: "lamp" as const, name, isOn: false };
  controls.push(control);
  return (on) => {
    control.isOn = on;
    trace(`${name}: ${on ? "on" : "off"}\n`);
  };
};
