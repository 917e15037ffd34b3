// Improv beside the other ways to commission, in any order and at any time: what it says is what commissioning is, and whoever asks is answered once.
import test from "ava";
import fc from "fast-check";
import { Improv } from "../../../extras/commissioning/improv.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { rig, URL } from "./rig.js";

const [STATE, ERROR, COMMAND, RESULT] = [1, 2, 3, 4];
const [WIFI, CURRENT] = [1, 2];
/** In the numbers of Improv. */
const NUMBERS = { closed: 0, open: 2, checking: 3, done: 4 } as const;
const PLACE = `${URL}/entities/devices`;
const RIGHT = "correct horse";

const password = fc.constantFrom(RIGHT, "wrong horse", "short");
const ACTION = fc.oneof(
  fc.record({ by: fc.constant("improv"), password }),
  fc.record({ by: fc.constant("console"), password }),
  fc.record({ by: fc.constant("page"), password }),
  fc.record({ by: fc.constant("state") }),
  fc.record({ by: fc.constant("unknown"), command: fc.integer({ min: 5, max: 255 }) }),
  fc.record({ by: fc.constant("time"), ms: fc.constantFrom(0, 1000, 3500, 11_000, 300_000) }),
);
type Action = { by: string; password?: string; command?: number; ms?: number };

/** The device, and the client's own idea of it. */
class Pair {
  readonly #rig = rig({
    before: { url: URL, key: KEY, secret: SECRET },
    join: ({ password: given }) =>
      given === RIGHT ? undefined : { field: "password", reason: "the Wi-Fi's password is wrong" },
  });
  readonly #improv: Improv;
  #isDone = false;
  /** What the client was sent last of it. */
  #state: number = NUMBERS.open;
  /** Wi-Fi that was taken and of which nothing was heard yet. */
  #waiting = 0;
  #errors: number[] = [];
  #results: number[] = [];

  constructor() {
    const { commissioning, entry, host } = this.#rig;
    this.#improv = new Improv({
      ...{ host, entry, url: () => PLACE },
      info: ["lamp", "1.0.0", "ESP32-C3", "lamp-1"],
      write: (frame) => this.#heard(frame),
    });
    const others = commissioning.onChange;
    commissioning.onChange = () => {
      others();
      if (commissioning.state === "done") this.#isDone = true;
      this.#improv.changed();
    };
  }

  async act(action: Action): Promise<void> {
    const { commissioning, console, host } = this.#rig;
    const before = commissioning.state;
    [this.#errors, this.#results] = [[], []];
    if (action.by === "improv") this.#give(action.password!, before === "open");
    else if (action.by === "console") console.line(`set wifi home "${action.password}"`);
    else if (action.by === "page") await this.#rig.post({ ssid: "home", password: action.password! });
    else if (action.by === "state") this.#ask();
    else if (action.by === "unknown") this.#unknown(action.command!);
    else await host.clock.advance(action.ms!);
    this.#agrees();
  }

  /** Nobody waits for ever. */
  async end(): Promise<void> {
    await this.#rig.host.clock.advance(1_200_000);
    this.#agrees();
    if (this.#waiting !== 0) throw new Error("a Wi-Fi was taken, and nothing was said of it");
  }

  get #expected(): number {
    const { state } = this.#rig.commissioning;
    // It restarts with what it was given.
    return this.#isDone ? NUMBERS.done : NUMBERS[state];
  }

  #agrees(): void {
    if (this.#state !== this.#expected)
      throw new Error(`the client believes ${this.#state}, it is ${this.#expected}`);
  }

  #give(given: string, isOpen: boolean): void {
    const texts = ["home", given].flatMap((text) => [text.length, ...Buffer.from(text)]);
    if (isOpen) this.#waiting++;
    this.#improv.frame(COMMAND, Uint8Array.from([WIFI, texts.length, ...texts]));
    const [first] = this.#errors;
    if (first !== (isOpen ? 0 : 0xff)) throw new Error(`answered by ${first}`);
  }

  #ask(): void {
    this.#improv.frame(COMMAND, Uint8Array.from([CURRENT, 0]));
    const wanted = this.#expected === NUMBERS.done ? [CURRENT] : [];
    if (`${this.#results}` !== `${wanted}`) throw new Error(`results ${this.#results}`);
  }

  #unknown(command: number): void {
    this.#improv.frame(COMMAND, Uint8Array.from([command, 0]));
    if (`${this.#errors}` !== "2") throw new Error(`command ${command}: ${this.#errors}`);
  }

  #heard(frame: Uint8Array): void {
    const [kind, , first = -1] = frame.subarray(8, -2);
    if (kind === STATE) this.#state = first;
    if (kind === ERROR) this.#errors.push(first);
    if (kind === RESULT) this.#results.push(first);
    if ((kind === ERROR && first === 3) || (kind === RESULT && first === WIFI)) this.#waiting--;
    if (this.#waiting < 0) throw new Error("an answer that nobody waits for");
    if (Buffer.from(frame).includes(RIGHT) || Buffer.from(frame).includes(SECRET))
      throw new Error("a secret");
  }
}

test("whatever is done by page, cable and Improv, a client of Improv knows the state, and is answered once", async (t) => {
  await t.notThrowsAsync(
    fc.assert(
      fc.asyncProperty(fc.array(ACTION, { maxLength: 25 }), async (actions) => {
        const pair = new Pair();
        for (const action of actions) await pair.act(action);
        await pair.end();
      }),
      { numRuns: 150 },
    ),
  );
});
