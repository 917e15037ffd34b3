// The journal of server-side RPCs. It recognizes RPCs that the platform delivers again, so that no
// handler runs twice and no new call is mistaken for an old one.
//
// A pending RPC (no answer got a 200) is recognized on every poll by id and content. It is settled
// when an answer is acknowledged or when a poll sent after it brought another RPC, and forgotten
// after 24 h, restarts and sleep included. The platform always delivers its oldest pending RPC: an
// RPC that another one supersedes was one-way, expired, was answered after all, or disappeared with
// a restart. A poll that ended without an RPC proves nothing, because a proxy may have ended it.
//
// A settled RPC can only come again on a poll that was sent before. The platform starts at id 0
// again when it restarts.
import { invariant } from "../../invariant.js";
import type { Host } from "../../port.js";
import { deleteStored, forgetStored, readStored, writeStored } from "../../store.js";
import { encodeError } from "../../wire/rpc.js";
import { fits } from "../../wire/text/text.js";
import type { Time } from "../time/time.js";

/** Maximum of pending RPCs whose handler began. None is evicted for another. */
const MAX_BEGUN = 8;
/** Maximum of pending RPCs, with those for which no handler runs. */
const MAX_PENDING = 24;
/**
 * Maximum of settled RPCs that a poll may still bring. A poll on a dead connection lasts up to 17 s
 * beside the next one. If operators send more RPCs meanwhile, the rest is answered `BUSY`.
 */
const MAX_SETTLED = 64;
const REMEMBER_MS = 86_400_000;
/** Longer answers are not stored: after a restart the RPC is answered with `OUTCOME_UNKNOWN`. */
const SHORT = 400;
/** Attempts in a row to post an answer that were lost or refused, until it is replaced. */
const MOST_REFUSALS = 4;
/** Key in the store. */
const STORED = "rpc";

/** A pending RPC. Only the journal changes it. */
export type JournalEntry = Readonly<Entry>;

interface Entry {
  readonly id: number;
  /** Checksum of the request: distinguishes RPCs with the same id. */
  readonly hash: number;
  /** Time of arrival, in ticks and in ms since 1970 (0: unknown). */
  readonly ticks: number;
  readonly at: number;
  /** The RPC arrived in an earlier run. */
  readonly isEarlier: boolean;
  /** Polls from this number on were sent after the RPC arrived. */
  readonly after: number;
  /** The handler began to run. */
  hasBegun: boolean;
  /** A restart must know that the handler began. */
  isStored: boolean;
  /** The answer as JSON. Undefined while the handler runs, or if the answer is no longer known. */
  answer: string | undefined;
  /** Number of failed attempts to post the answer. */
  failures: number;
  /** Number of the last attempts in a row that were lost or refused. */
  refusals: number;
}

interface SettledRpc {
  readonly id: number;
  readonly hash: number;
  /** Polls from this number on were sent after the RPC was settled. */
  readonly after: number;
}

export class RpcJournal {
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _answerBytes: number;
  private _pending: Entry[] = [];
  private _settled: SettledRpc[] = [];
  /** The store holds a settled RPC, because it failed. */
  private _isOutdated = false;

  constructor(host: Host, time: Time, answerBytes: number) {
    this._host = host;
    this._time = time;
    this._answerBytes = answerBytes;
    const stored = readStored(host, STORED);
    if (!Array.isArray(stored)) return;
    for (const row of stored) {
      const [id, hash, ticks, at, answer] = Array.isArray(row) ? row : [];
      if (typeof id !== "number" || typeof hash !== "number") continue;
      if (typeof ticks !== "number" || typeof at !== "number") continue;
      const entry = entryOf({ id, hash, ticks, at, isEarlier: true, after: 0 });
      entry.hasBegun = entry.isStored = true;
      if (typeof answer === "string") entry.answer = answer;
      // Its answer is stored if it can be.
      entry.failures = 1;
      this._pending.push(entry);
    }
  }

  /** Finds the RPC that poll number `poll` brought, if it was seen before. */
  find(id: number, hash: number, poll: number): JournalEntry | "settled" | undefined {
    const now = this._time.now();
    const isSame = (one: SettledRpc | Entry) => one.id === id && one.hash === hash;
    for (const old of this._pending.filter((one) => this._age(one, now) >= REMEMBER_MS)) this._drop(old);
    if (this._settled.some((one) => isSame(one) && poll < one.after)) return "settled";
    return this._pending.find(isSame);
  }

  /** Adds an RPC. `nextPoll`: number of the next poll. */
  enter(id: number, hash: number, nextPoll: number): JournalEntry {
    invariant("no handler runs twice for an RPC that the platform may deliver again", () =>
      this._pending.every((one) => one.id !== id || one.hash !== hash),
    );
    const { ticks } = this._time;
    const at = this._time.now() ?? 0;
    const entry = entryOf({ id, hash, ticks, at, isEarlier: false, after: nextPoll });
    this._pending.push(entry);
    if (this._pending.length > MAX_PENDING) this._drop(this._pending.find((one) => !one.hasBegun) ?? entry);
    return entry;
  }

  /**
   * Call before the handler runs. It must not run if the journal is full or the store failed.
   * `once`: a restart must not run it again.
   */
  admit(entry: Entry, once: boolean): "admitted" | "full" | "not stored" {
    const begun = this._pending.filter((one) => one.hasBegun).length;
    if (begun >= MAX_BEGUN || this._settled.length >= MAX_SETTLED) return "full";
    entry.isStored = once;
    if (once && !this._save()) {
      entry.isStored = false;
      return "not stored";
    }
    entry.hasBegun = true;
    return "admitted";
  }

  /** Notes the answer of the handler, or of the agent itself. */
  setAnswer(entry: Entry, text: string): void {
    entry.answer = text;
    // All long answers share one budget: the maximum size of a single answer. The oldest go first.
    let room = this._answerBytes;
    for (let i = this._pending.length - 1; i >= 0; i--) {
      const one = this._pending[i] as Entry;
      const length = one.answer?.length ?? 0;
      if (length > SHORT) room -= length;
      if (length > SHORT && room < 0 && one !== entry) one.answer = undefined;
    }
  }

  /**
   * Notes that an attempt to post the answer failed. `isRefused`: it was lost or refused, perhaps
   * because of its content. Returns the number of attempts that failed.
   */
  noteFailure(entry: Entry, isRefused: boolean): number {
    entry.refusals = isRefused ? entry.refusals + 1 : 0;
    entry.failures++;
    // Without any answer, this RPC would block those behind it.
    if (entry.refusals >= MOST_REFUSALS) this.setAnswer(entry, encodeError("ANSWER_TOO_LARGE"));
    if (entry.failures === 1 && entry.isStored && isShort(entry.answer)) this._save();
    return entry.failures;
  }

  /** The platform has an answer, or no longer waits. `nextPoll`: number of the next poll. */
  settle(entry: JournalEntry, nextPoll: number): void {
    const { id, hash, hasBegun } = entry;
    this._drop(entry);
    if (hasBegun || this._settled.length < MAX_SETTLED) this._settled.push({ id, hash, after: nextPoll });
  }

  /**
   * Poll number `poll` brought a new RPC, so RPCs that came before the poll was sent are no longer
   * pending.
   */
  supersedeBefore(poll: number): void {
    for (const entry of this._pending.filter(({ after }) => poll >= after)) this.settle(entry, poll);
  }

  /**
   * Forgets the settled RPCs that no poll can bring any more. `oldest`: lowest number of the polls
   * that are open or not processed.
   */
  pollEnded(oldest: number): void {
    this._settled = this._settled.filter(({ after }) => oldest < after);
  }

  /** Tries again to delete settled RPCs from a store that failed. */
  tidy(): void {
    if (this._isOutdated) this._save();
  }

  forget(): boolean {
    this._pending = [];
    this._settled = [];
    this._isOutdated = false;
    return forgetStored(this._host, STORED);
  }

  /**
   * Minimum age. The clock may be wrong, so it counts only across a restart, where ticks may lack.
   */
  private _age({ ticks, at, isEarlier }: Entry, now: number | undefined): number {
    const ticked = this._time.ticks - ticks;
    return isEarlier && at > 0 && now !== undefined ? Math.max(ticked, now - at) : ticked;
  }

  private _drop(entry: JournalEntry): void {
    this._pending = this._pending.filter((other) => other !== entry);
    // After a restart no earlier poll exists, so the stored value is no longer needed.
    if (entry.isStored) this._save();
  }

  /** Stores the pending RPCs whose handlers must not run again, with short answers. */
  private _save(): boolean {
    const rows = this._pending.filter((one) => one.isStored).map(rowOf);
    const isSaved =
      rows.length > 0 ? writeStored(this._host, STORED, rows) : deleteStored(this._host, STORED);
    this._isOutdated = !isSaved;
    return isSaved;
  }
}

const isShort = (answer: string | undefined): answer is string =>
  answer !== undefined && answer.length <= SHORT && fits(JSON.stringify(answer), SHORT);

const rowOf = ({ id, hash, ticks, at, answer }: Entry) =>
  isShort(answer) ? [id, hash, ticks, at, answer] : [id, hash, ticks, at];

const entryOf = (known: Pick<Entry, "id" | "hash" | "ticks" | "at" | "isEarlier" | "after">): Entry => {
  return { ...known, hasBegun: false, isStored: false, answer: undefined, failures: 0, refusals: 0 };
};
