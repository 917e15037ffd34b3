// `mote/simulated` on Node: sensors, buttons and lamps of a simulated board. Their values are
// members of a JSON file, which the developer changes.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Button, Range } from "../../device/simulated.js";

type Values = Record<string, unknown>;

/** Set by `mote run`. Without it, all values stay as they begin. */
const FILE = process.env.MOTE_SIMULATED;
const LOOK_MS = 100;

const memory: Values = {};

function read(): Values {
  if (FILE === undefined) return memory;
  try {
    const values: unknown = JSON.parse(readFileSync(FILE, "utf8"));
    if (typeof values === "object" && values !== null) Object.assign(memory, values);
  } catch {
    // Missing, or half written by an editor: the last values stay.
  }
  return memory;
}

function write(name: string, value: unknown): void {
  read()[name] = value;
  if (FILE === undefined) return;
  try {
    writeFileSync(`${FILE}.new`, `${JSON.stringify(memory, null, 2)}\n`);
    renameSync(`${FILE}.new`, FILE);
  } catch {
    // The value is still valid in this run.
  }
}

/** A sensor. Returns the function that reads it. */
export function slider(name: string, { least, most, value }: Range): () => number {
  if (typeof read()[name] !== "number") write(name, value);
  return () => Math.min(most, Math.max(least, Number(read()[name]) || 0));
}

/** A push button. `onChange` is called at each edge. */
export function button(name: string, onChange: () => void = () => {}): Button {
  write(name, false);
  let isPressed = false;
  setInterval(() => {
    const now = read()[name] === true;
    if (now === isPressed) return;
    isPressed = now;
    onChange();
  }, LOOK_MS);
  return {
    get isPressed() {
      return isPressed;
    },
  };
}

/** A lamp, a relay or another output. Returns the function that switches it. */
export function lamp(name: string): (on: boolean) => void {
  return (on) => console.log(`${name}: ${on ? "on" : "off"}`);
}
