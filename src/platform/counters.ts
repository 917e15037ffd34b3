// What the agent counts, and how it reports that something went wrong. To count costs a number; who wants more of it has `mote/diagnostics`.

import { type ErrorCode, MoteError } from "../errors.js";
import type { Events } from "../events.js";
import { NO_TURN, type Outcome } from "../http/outcome.js";
import type { Host, Redactor } from "../port.js";

/** Totals since the agent was made. */
export class Counters {
  /** Requests that the platform answered, whatever it said; polls as well. */
  roundTrips = 0;
  /** Requests, polls aside, that were not answered, or put off by a 408, 429 or 5xx: each goes out again. */
  retries = 0;
  /** Bytes of firmware images that had come before, as far as this start knows: what came after the last stored progress before a power loss it does not. */
  fetchedTwice = 0;
  /** Answers of the platform that could not be read; each was treated as none. */
  malformedAnswers = 0;
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _redactor: Redactor;
  private readonly _logged: string[] = [];
  /** Bytes that came of the image last fetched. */
  private _image = "";
  private _came = 0;

  constructor(host: Host, events: Events, redactor: Redactor) {
    this._host = host;
    this._events = events;
    this._redactor = redactor;
  }

  /** For the session alone: what became of a request. */
  note(outcome: Outcome, poll: boolean): void {
    const { kind } = outcome;
    if (kind !== "lost") this.roundTrips++;
    // So does a poll end that brings nothing.
    if (kind === "done" || (poll && kind === "busy")) return;
    if (kind === "lost" && outcome.reason === NO_TURN) return;
    if (!poll && kind !== "refused") this.retries++;
    this._events.emit("error", { code: kind === "lost" ? kind : `${kind} ${outcome.status}` });
  }

  /** For the agent alone: an error for the application, emitted as an event as well. */
  error(code: ErrorCode, message: string): MoteError {
    this._events.emit("error", { code });
    return new MoteError(code, this._redactor.clean(message));
  }

  /** For the agent alone: an answer of the platform can't be read: it is counted, logged once of each kind, and the caller treats it as none. */
  malformed(what: string): void {
    this.malformedAnswers++;
    if (this._logged.includes(what)) return;
    this._logged.push(what);
    this._host.log("warn", `${what} can't be read and is taken for none (logged once)`);
  }

  /** For the download alone: the bytes `from` to `to` of `image` came. */
  fetched(image: string, from: number, to: number): void {
    if (image !== this._image) this._came = 0;
    this._image = image;
    this.fetchedTwice += Math.max(0, Math.min(this._came, to) - from);
    this._came = Math.max(this._came, to);
  }
}
