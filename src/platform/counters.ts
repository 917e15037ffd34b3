// Counters of the agent, and its error reports. extras/diagnostics offers more detail.

import { type ErrorCode, MoteError } from "../errors.js";
import type { Events } from "../events.js";
import { NO_TURN, type Outcome } from "../http/outcome.js";
import type { Host, Redactor } from "../port.js";
import { hashText32 } from "../wire/crypto/hash32.js";
import type { LeftOut } from "../wire/text/encode.js";

/** Totals since the agent was created. */
export interface Counters {
  /** Requests that the platform answered, with any status; includes polls. */
  readonly roundTrips: number;
  /** Requests (without polls) that got no answer, or a 408, 429 or 5xx. Each is sent again. */
  readonly retries: number;
  /**
   * Bytes of firmware images that were downloaded twice. Does not count bytes after the last stored
   * progress before a power loss.
   */
  readonly fetchedTwice: number;
  /** Malformed answers of the platform; each was ignored. */
  readonly malformedAnswers: number;
  /**
   * Values that were left out of points, client attributes and RPC answers, because JSON or the
   * platform cannot hold them or they are too large.
   */
  readonly leftOut: number;
  /** Points that were not recorded, because no value was left. */
  readonly emptyPoints: number;
}

/** Counts what the agent's parts report. */
export class AgentCounters implements Counters {
  roundTrips = 0;
  retries = 0;
  fetchedTwice = 0;
  malformedAnswers = 0;
  leftOut = 0;
  emptyPoints = 0;
  /**
   * Keys of values left out that were logged, as bits of their hashes modulo 31: it survives
   * sleeps, and may keep a key from being logged, but not from being counted.
   */
  loggedKeySet = 0;
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _redactor: Redactor;
  private readonly _loggedMalformed: string[] = [];
  /** Received bytes of the current image. */
  private _image = "";
  private _receivedTo = 0;

  constructor(host: Host, events: Events, redactor: Redactor) {
    this._host = host;
    this._events = events;
    this._redactor = redactor;
  }

  /** Counts the outcome of a request. */
  countOutcome(outcome: Outcome, poll: boolean): void {
    const { kind } = outcome;
    if (kind !== "lost") this.roundTrips++;
    // A busy poll without news is a normal end.
    if (kind === "done" || (poll && kind === "busy")) return;
    if (kind === "lost" && outcome.reason === NO_TURN) return;
    if (!poll && kind !== "refused") this.retries++;
    this._events.emit("error", { code: kind === "lost" ? kind : `${kind} ${outcome.status}` });
  }

  /** Emits the event `error`. Returns the error, for the caller to throw. */
  emitError(code: ErrorCode, message: string): MoteError {
    this._events.emit("error", { code });
    return new MoteError(code, this._redactor.clean(message));
  }

  /** Counts a malformed answer and logs it once per kind. The caller ignores the answer. */
  countMalformed(what: string): void {
    this.malformedAnswers++;
    if (this._loggedMalformed.includes(what)) return;
    this._loggedMalformed.push(what);
    this._host.log("warn", `${what} is malformed and ignored (logged once)`);
  }

  /** Counts the values left out of `what`, and logs each key once, over sleeps too. */
  countLeftOut(what: string, leftOut: LeftOut | undefined): void {
    if (!leftOut) return;
    this.leftOut += leftOut.count;
    for (const { key, reason, tooLarge } of leftOut.named) {
      this._events.emit("error", { code: tooLarge ? "TOO_LARGE" : "BAD_VALUE" });
      const bit = 1 << (hashText32(`${what}:${key}`, undefined) % 31);
      if (this.loggedKeySet & bit) continue;
      this.loggedKeySet |= bit;
      this._host.log("warn", this._redactor.clean(`left out of ${what} (logged once): ${reason}`));
    }
  }

  /** The bytes `from` to `to` of `image` arrived. */
  countDownloaded(image: string, from: number, to: number): void {
    if (image !== this._image) this._receivedTo = 0;
    this._image = image;
    this.fetchedTwice += Math.max(0, Math.min(this._receivedTo, to) - from);
    this._receivedTo = Math.max(this._receivedTo, to);
  }
}
