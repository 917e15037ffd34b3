// The standard output, which a report may fill faster than its reader takes it.
import { forStream } from "../output/table.js";

/** Texts are put together up to that many characters. */
const PIECE = 65_536;

export class Output {
  #text = "";
  #open = true;

  constructor() {
    process.stdout.once("error", () => {
      this.#open = false;
    });
  }

  /** False once nobody reads any more. Waits until a pipe or terminal takes the data. */
  write(text: string): boolean {
    this.#text += text;
    // On a terminal each row is wanted at once.
    if (process.stdout.isTTY || this.#text.length >= PIECE) this.flush();
    return this.#open;
  }

  flush(): void {
    if (this.#text !== "" && this.#open) process.stdout.write(forStream(this.#text));
    this.#text = "";
  }
}
