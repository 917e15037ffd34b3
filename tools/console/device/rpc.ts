// Server-side RPC: the last answer in full, and a history of calls with their durations.
import { duration } from "../../duration.js";
import { OperatorError } from "../../operator/error.js";
import { clock, shown } from "../model/format.js";
import { html, messageOf, onSubmit, options, type TemplateResult, table } from "../ui.js";
import type { Part, Place } from "./part.js";

const WAYS = ["two-way", "one-way"] as const;
const KEPT = 20;

interface Call {
  readonly number: number;
  readonly at: number;
  readonly text: string;
  answer: string;
  /** The device answered with an error, or not at all. */
  failed: boolean;
  ms?: number;
}

export class Rpc implements Part {
  readonly title = "RPC";
  readonly #place: Place;
  readonly #calls: Call[] = [];
  #number = 0;
  #full = "";

  constructor(place: Place) {
    this.#place = place;
  }

  view(): TemplateResult {
    const rows = this.#calls.map(({ number, at, text, answer, failed, ms }) => ({
      id: String(number),
      cells: [
        ...[clock(at, Date.now()), text],
        html`<span class=${failed ? "bad" : ""}>${answer}</span>`,
        ms === undefined ? "" : duration(ms),
      ],
    }));
    return html`<form class="row" aria-label="Call a method" @submit=${onSubmit((values) => this.#call(values))}>
        <label>Method<input name="method" required autocomplete="off" spellcheck="false" placeholder="setLed" /></label>
        <label>Way<select name="way">${options(WAYS)}</select></label>
        <label>Seconds<input name="seconds" type="number" min="5" max="3600" value="10" required /></label>
        <label class="grow">Params (JSON)<textarea name="params" rows="2" spellcheck="false">{}</textarea></label>
        <button>Call</button>
      </form>
      <pre tabindex="0" role="region" aria-label="Full answer" ?hidden=${this.#full === ""}>${this.#full}</pre>
      ${table("Calls", ["Time", "Call", "Answer", "Took"], rows, "No calls yet.")}`;
  }

  async #call({ method = "", way = "", seconds = "", params = "" }: Record<string, string>): Promise<void> {
    const { id, session, refresh } = this.#place;
    const { rpc } = session.operator;
    const call: Call = {
      ...{ number: ++this.#number, at: Date.now(), text: `${method}(${params.trim()})` },
      ...{ answer: "…", failed: false },
    };
    this.#calls.unshift(call);
    this.#calls.length = Math.min(this.#calls.length, KEPT);
    refresh();
    try {
      const value: unknown = params.trim() === "" ? null : JSON.parse(params);
      const timeoutMs = Number(seconds) * 1_000;
      if (way === "one-way") {
        await rpc.oneWay(id, method, value, { timeoutMs });
        call.answer = "sent";
      } else {
        const answer = await rpc.twoWay(id, method, value, { timeoutMs });
        call.answer = shown(answer);
        call.failed = isError(answer);
        this.#full = JSON.stringify(answer, undefined, 2) ?? "";
      }
    } catch (error) {
      const isSilent = error instanceof OperatorError && [408, 409, 504].includes(error.status);
      call.answer = isSilent ? "no answer in time" : messageOf(error);
      call.failed = true;
    }
    call.ms = Date.now() - call.at;
    refresh();
  }
}

/** `{"error":{"code":"METHOD_NOT_FOUND"}}` */
const isError = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "error";
