// The device's own log, read on request by the RPC `mote.log`.
import type { LogAnswer } from "../../../extras/diagnostics/index.js";
import { duration } from "../../duration.js";
import { logAnswer } from "../../operator/device-log.js";
import { OperatorError } from "../../operator/error.js";
import { clock } from "../model/format.js";
import { html, messageOf, type Row, type TemplateResult, table } from "../ui.js";
import type { Part, Place } from "./part.js";

export class Log implements Part {
  readonly title = "Log";
  readonly #place: Place;
  #state = "The device keeps its log over restarts.";
  #rows: readonly Row[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  view(): TemplateResult {
    return html`<p class="quiet" role="status">${this.#state}</p>
      <p><button @click=${() => this.#ask()}>Read the log</button></p>
      ${table("Device log", ["Time", "Level", "Text"], this.#rows, "")}`;
  }

  async #ask(): Promise<void> {
    const { id, session, refresh } = this.#place;
    this.#state = "Asking the device…";
    refresh();
    try {
      const answer = logAnswer(await session.operator.rpc.twoWay(id, "mote.log", {}));
      this.#state = answer ? `Up ${duration(answer.uptime * 1_000)}.` : "This firmware keeps no log.";
      this.#rows = answer ? rowsOf(answer, Date.now()) : [];
    } catch (error) {
      const isSilent = error instanceof OperatorError && [408, 409, 504].includes(error.status);
      this.#state = isSilent ? "The device did not answer: it is offline or asleep." : messageOf(error);
    }
    refresh();
  }
}

/** Newest first. Of runs before the present one only the time since their start is known. */
function rowsOf({ uptime, lines }: LogAnswer, now: number): Row[] {
  let next = uptime;
  let isPresent = true;
  return [...lines].reverse().map(([at, level, text], index) => {
    isPresent &&= at <= next;
    next = at;
    const time = isPresent ? clock(now - (uptime - at) * 1_000, now) : `earlier, ${duration(at * 1_000)} up`;
    return { id: String(index), cells: [time, level, text] };
  });
}
