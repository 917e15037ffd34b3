// Keys of `mote run` in a terminal: they change the values of a project's simulated hardware.
import { readFileSync } from "node:fs";
import { replaceFile, UNFENCED } from "../../../hosts/node/files.js";

type Values = Record<string, unknown>;

const CTRL_C = "\u0003";
const HELP = "1 to 9 choose a value (a button: press it), + and - change it, Ctrl-C stops";
/** A press takes so long, in ms. */
const PRESS_MS = 300;

export interface Terminal {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: "data", read: (keys: Buffer) => void): unknown;
  unref?(): unknown;
}

/**
 * Reads keys until the process ends; does nothing without a terminal. `stop` is called at Ctrl-C.
 */
export function readKeys(
  terminal: Terminal,
  file: string,
  tell: (line: string) => void,
  stop: () => void,
): void {
  if (!terminal.isTTY || !terminal.setRawMode) return;
  terminal.setRawMode(true);
  process.once("exit", () => terminal.setRawMode?.(false));
  const panel = new Keys(file, tell);
  terminal.on("data", (keys) => {
    for (const key of keys.toString()) {
      if (key === CTRL_C) stop();
      else panel.press(key);
    }
  });
  // Only the device keeps the process alive.
  terminal.unref?.();
  tell(`simulated values are in ${file}. Keys: ${HELP}`);
}

class Keys {
  readonly #file: string;
  readonly #tell: (line: string) => void;
  #chosen = 0;

  constructor(file: string, tell: (line: string) => void) {
    this.#file = file;
    this.#tell = tell;
  }

  press(key: string): void {
    const names = Object.keys(this.#read());
    const number = Number(key);
    if (number >= 1 && number <= names.length) {
      this.#chosen = number - 1;
    }
    const name = names[this.#chosen];
    const value = name === undefined ? undefined : this.#read()[name];
    if (number >= 1 && typeof value === "boolean") this.#push(name!);
    else {
      if (typeof value === "number") this.#change(name!, value, key);
      this.#show();
    }
  }

  #change(name: string, value: number, key: string): void {
    const change = key === "+" || key === "=" ? 1 : key === "-" ? -1 : 0;
    // Without the digits that floating point adds.
    if (change !== 0) this.#write(name, Number((value + change * stepOf(value)).toFixed(3)));
  }

  #push(name: string): void {
    this.#write(name, true);
    setTimeout(() => this.#write(name, false), PRESS_MS);
    this.#tell(`${name}: pressed`);
  }

  #show(): void {
    const texts = Object.entries(this.#read()).map(
      ([name, value], i) => `${i === this.#chosen ? ">" : ""}${i + 1} ${name} ${value}`,
    );
    this.#tell(texts.length === 0 ? "this program has no simulated values" : texts.join(", "));
  }

  #read(): Values {
    try {
      return JSON.parse(readFileSync(this.#file, "utf8")) as Values;
    } catch {
      return {};
    }
  }

  #write(name: string, value: unknown): void {
    replaceFile(
      this.#file,
      Buffer.from(`${JSON.stringify({ ...this.#read(), [name]: value }, null, 2)}\n`),
      UNFENCED,
    );
  }
}

/** A voltage changes by tenths, a temperature by degrees, a raw reading by hundreds. */
const stepOf = (value: number): number => (Math.abs(value) < 10 ? 0.1 : Math.abs(value) < 200 ? 1 : 100);
