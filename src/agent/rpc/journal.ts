// The journal of server-side RPCs. It recognizes RPCs that the platform delivers again, so that no
// handler runs twice and no new call is mistaken for an old one.
//
// An unacknowledged RPC (no answer got a 200) is recognized on every poll by id and content. It is
// forgotten when an answer is acknowledged, when a poll sent after it brought another RPC, or after
// `rememberMs`. The platform always delivers its oldest pending RPC: an RPC that another one
// supersedes was one-way, expired, was answered after all, or disappeared with a restart. A poll
// that ended without an RPC proves nothing, because a proxy may have ended it.
//
// An acknowledged RPC can only come again on a poll that was sent before the acknowledgement. The
// platform starts at id 0 again when it restarts.
import { invariant } from "../../invariant.js";
import type { Host } from "../../port.js";
import { deleteStored, forgetStored, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { Time } from "../time/time.js";

/**
 * Maximum of unacknowledged RPCs whose handler began. Overlapping polls bring them; none is evicted
 * for another.
 */
const MAX_UNACKNOWLEDGED = 8;
/** Maximum of all entries, with acknowledged RPCs and RPCs without a handler run. */
const MAX_ENTRIES = 24;
/** Longer answers are not stored: after a restart the RPC is answered with `OUTCOME_UNKNOWN`. */
const SHORT = 512;
/**
 * Delay before an acknowledged RPC is deleted from the store. Usually the next RPC reuses its key,
 * which saves a write.
 */
const LINGER_MS = 1000;
/** Delay before a failed store is tried again. */
const RETRY_MS = 60_000;

/** An RPC that the platform may deliver again. Only the journal changes it. */
export type JournalEntry = Readonly<Entry>;

interface Entry {
  readonly id: number;
  /** Hash of method and params. */
  readonly hash: number;
  /** The handler of the RPC began to run. */
  readonly ran: boolean;
  /** Key in the store. */
  key: string | undefined;
  /** Time of arrival, in ticks and in ms since 1970 (0: unknown). */
  readonly ticks: number;
  readonly at: number;
  /** The RPC arrived in an earlier run. */
  readonly earlier: boolean;
  /** Polls from this number on were sent after the RPC arrived. */
  readonly after: number;
  /** The answer as JSON. Undefined while the handler runs, or if the answer is no longer known. */
  answer: string | undefined;
  /** The answer is stored. */
  answerStored: boolean;
  /** Polls from this number on were sent after an answer was acknowledged. */
  acknowledgedAt: number | undefined;
  /** Number of failed attempts to post the answer. */
  failures: number;
  /** Number of the last attempts in a row that were lost or refused. */
  refusals: number;
}

/**
 * `stored`, `unstored`: a handler runs, and a restart must know, or need not. `none`: no handler
 * runs.
 */
export type Effect = "stored" | "unstored" | "none";

export class RpcJournal {
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _rememberMs: number;
  private readonly _answerBytes: number;
  private _entries: Entry[] = [];
  /** Keys of outdated values, and the time when the last of them became outdated. */
  private _stale: string[] = [];
  private _staleSince = 0;

  constructor(host: Host, time: Time, rememberMs: number, answerBytes: number) {
    this._host = host;
    this._time = time;
    this._rememberMs = rememberMs;
    this._answerBytes = answerBytes;
    for (const key of KEYS) this._load(key);
  }

  /** Finds the entry of the RPC that poll number `poll` brought, if it was seen before. */
  find(id: number, hash: number, poll: number): JournalEntry | undefined {
    this._expire();
    return this._entries.find(
      ({ id: known, hash: content, acknowledgedAt }) =>
        known === id && content === hash && (acknowledgedAt === undefined || poll < acknowledgedAt),
    );
  }

  /**
   * Adds an entry before the handler runs. The handler must not run if the journal is full or the
   * store failed. `nextPoll`: number of the next poll.
   */
  enter(id: number, hash: number, effect: Effect, nextPoll: number): JournalEntry | "full" | "not stored" {
    const ran = effect !== "none";
    invariant("no handler runs twice for an RPC that the platform may deliver again", () =>
      this._entries.every((one) => one.id !== id || one.hash !== hash || one.acknowledgedAt !== undefined),
    );
    if (ran && this._full()) return "full";
    const { ticks } = this._time;
    const at = this._time.now() ?? 0;
    const entry = entryOf({ id, hash, ran, ticks, at, earlier: false, after: nextPoll });
    if (effect === "stored" && !this._store(entry)) return "not stored";
    this._entries.push(entry);
    if (this._entries.length > MAX_ENTRIES) this._drop(this._entries.find((one) => !one.ran) ?? entry);
    return entry;
  }

  /** Notes the answer of the handler, or of the agent itself. */
  setAnswer(entry: Entry, text: string): void {
    entry.answer = text;
    // All long answers share one budget: the maximum size of a single answer.
    const long = this._entries.filter((one) => lengthOf(one) > SHORT);
    let bytes = 0;
    for (const one of long) bytes += lengthOf(one);
    for (const one of long) {
      if (bytes <= this._answerBytes || one === entry) break;
      bytes -= lengthOf(one);
      one.answer = undefined;
    }
  }

  /** No 200 came for the answer: store a short answer with its RPC. */
  unacknowledged(entry: Entry): void {
    const { id, hash, ticks, at, key, answer } = entry;
    if (key === undefined || answer === undefined || entry.answerStored || answer.length > SHORT) return;
    entry.answerStored = writeStored(this._host, key, { id, hash, ticks, at, answer });
  }

  /** Counts a failed attempt to post the answer. Returns the number of attempts that failed. */
  countFailure(entry: Entry): number {
    return ++entry.failures;
  }

  /** Notes whether an attempt was lost or refused. Returns the number of those in a row. */
  countRefusal(entry: Entry, isRefused: boolean): number {
    entry.refusals = isRefused ? entry.refusals + 1 : 0;
    return entry.refusals;
  }

  /** Notes that the platform acknowledged the answer. `nextPoll`: number of the next poll. */
  acknowledged(entry: Entry, nextPoll: number): void {
    entry.acknowledgedAt = nextPoll;
    entry.answer = undefined;
    // After a restart no earlier poll exists, so the stored value is no longer needed.
    this._release(entry);
  }

  /**
   * Poll number `poll` brought a new RPC, so RPCs that came before the poll was sent are no longer
   * pending.
   */
  supersedeBefore(poll: number): void {
    for (const entry of this._entries)
      if (entry.acknowledgedAt === undefined && poll >= entry.after) this.acknowledged(entry, poll);
  }

  /**
   * Called when a poll ended. `oldest`: lowest number of the polls that are open or not processed.
   */
  pollEnded(oldest: number): void {
    for (const entry of this._entries)
      if (entry.acknowledgedAt !== undefined && oldest >= entry.acknowledgedAt) this._drop(entry);
  }

  /** ms until outdated values are deleted from the store; undefined if there are none. */
  get tidyMs(): number | undefined {
    if (this._stale.length === 0) return undefined;
    return Math.max(0, this._staleSince + LINGER_MS - this._host.clock.now());
  }

  /** Deletes outdated values from the store. */
  tidy(): void {
    this._stale = this._stale.filter((key) => !deleteStored(this._host, key));
    this._staleSince = this._host.clock.now() + RETRY_MS - LINGER_MS;
  }

  forget(): boolean {
    this._entries = [];
    this._stale = [];
    const left = KEYS.filter((key) => this._host.store.get(key) && !forgetStored(this._host, key));
    return left.length === 0;
  }

  private _load(key: string): void {
    const stored = readStored(this._host, key);
    if (!isObject(stored)) return;
    const { id, hash, answer, ticks, at } = stored;
    if (typeof id !== "number" || typeof hash !== "number") return;
    if (typeof ticks !== "number" || typeof at !== "number") return;
    const entry = entryOf({ id, hash, ran: true, ticks, at, earlier: true, after: 0 });
    entry.key = key;
    if (typeof answer === "string") entry.answer = answer;
    entry.answerStored = entry.answer !== undefined;
    this._entries.push(entry);
  }

  private _full(): boolean {
    this._expire();
    const begun = this._entries.filter(({ ran }) => ran);
    const open = begun.filter(({ acknowledgedAt }) => acknowledgedAt === undefined);
    return open.length >= MAX_UNACKNOWLEDGED || begun.length >= MAX_ENTRIES;
  }

  private _expire(): void {
    // Dropping an entry replaces the list.
    for (const entry of this._entries)
      if (entry.acknowledgedAt === undefined && this._age(entry) >= this._rememberMs) this._drop(entry);
  }

  /**
   * Minimum age of an entry. The clock may be wrong, so it counts only across a restart, where
   * ticks may be missing.
   */
  private _age({ ticks, at, earlier }: Entry): number {
    const ticked = this._time.ticks - ticks;
    const now = this._time.now();
    return earlier && at > 0 && now !== undefined ? Math.max(ticked, now - at) : ticked;
  }

  private _store(entry: Entry): boolean {
    const used = this._entries.map(({ key }) => key).concat(this._stale);
    const key = this._stale[0] ?? KEYS.find((one) => !used.includes(one));
    const { id, hash, ticks, at } = entry;
    if (key === undefined || !writeStored(this._host, key, { id, hash, ticks, at })) return false;
    entry.key = key;
    this._stale = this._stale.filter((one) => one !== key);
    return true;
  }

  private _drop(entry: Entry): void {
    this._entries = this._entries.filter((other) => other !== entry);
    this._release(entry);
  }

  private _release(entry: Entry): void {
    if (entry.key === undefined) return;
    this._stale.push(entry.key);
    this._staleSince = this._host.clock.now();
    entry.key = undefined;
  }
}

const lengthOf = ({ answer }: Entry): number => answer?.length ?? 0;

/** Keys in the store. */
const KEYS = ["rpc0", "rpc1", "rpc2", "rpc3", "rpc4", "rpc5", "rpc6", "rpc7"] as const;

const entryOf = (known: Pick<Entry, "id" | "hash" | "ran" | "ticks" | "at" | "earlier" | "after">): Entry => {
  return {
    ...known,
    key: undefined,
    answer: undefined,
    answerStored: false,
    acknowledgedAt: undefined,
    failures: 0,
    refusals: 0,
  };
};
