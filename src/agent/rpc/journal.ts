// The journal of server-side RPCs: which of them may come again, so that no handler runs twice and no new call is taken for an old one.
//
// Unacknowledged (no answer of ours got a 200): it is known by id and content on every poll, until an answer is acknowledged, a poll that was
// sent after it came brings another RPC, or `rememberMs` are over. The platform hands out the oldest that waits: what another one takes the place
// of was one-way, has expired, was answered after all, or is gone with a restart. That a poll ended without an RPC proves nothing, it may have
// been a proxy. Acknowledged: the platform let it go before it saw any poll that was sent after that, so only polls sent before may still bring
// a copy. Ids begin at 0 again when the platform restarts.
import type { Host } from "../../port.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { Time } from "../time/time.js";

/** Unacknowledged RPCs whose handler began: those of polls that overlapped, as any later one takes their place. None of them makes room for another. */
const ENTRIES = 8;
/** With the acknowledged ones that a poll may still bring, and those that no handler was run for. */
const MOST = 24;
/** The key that an agent before this one stored its one RPC under. */
const BEFORE = "doubt";
/** Longer answers are not kept over a restart: the RPC is then answered `OUTCOME_UNKNOWN`. */
const SHORT = 512;
/** So long after its acknowledgement an RPC stays in the store: mostly the next one takes its place, which is one write where there would be two. */
const LINGER_MS = 1000;
/** A store that fails is asked again after this. */
const RETRY_MS = 60_000;

/** An RPC that may come again. */
export interface JournalEntry {
  readonly id: number;
  /** Of method and params. */
  readonly hash: number;
  /** Its handler began to run. */
  readonly ran: boolean;
  /** Where it is stored. */
  key: string | undefined;
  /** When it came, in ticks, and in ms since 1970 (0: nobody knew). */
  readonly ticks: number;
  readonly at: number;
  /** It came in an earlier run. */
  readonly earlier: boolean;
  /** Polls from this number on were sent after it came. */
  readonly after: number;
  /** JSON text; undefined while the handler runs, and if what came of it is not known any more. */
  answer: string | undefined;
  /** The answer is in the store. */
  answerStored: boolean;
  /** Polls from this number on were sent after an answer was acknowledged. */
  acknowledgedAt: number | undefined;
  /** How often its answer came to nothing. */
  failures: number;
}

/** What is done for an RPC: a handler runs and a restart must know, or need not; or none runs. */
export type Effect = "stored" | "unstored" | "none";

export class RpcJournal {
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _rememberMs: number;
  private readonly _answerBytes: number;
  private _entries: JournalEntry[] = [];
  /** What is stored under these keys is over, the last of it since then. */
  private _stale: string[] = [];
  private _staleSince = 0;

  constructor(host: Host, time: Time, rememberMs: number, answerBytes: number) {
    this._host = host;
    this._time = time;
    this._rememberMs = rememberMs;
    this._answerBytes = answerBytes;
    for (const key of KEYS) this._load(key);
  }

  /** The RPC that poll number `poll` brought, if it was seen before. */
  find(id: number, hash: number, poll: number): JournalEntry | undefined {
    this._expire();
    return this._entries.find(
      ({ id: known, hash: content, acknowledgedAt }) =>
        known === id && content === hash && (acknowledgedAt === undefined || poll < acknowledgedAt),
    );
  }

  /** Before the handler runs. It does not if there is no room, or nothing can be stored. `nextPoll` is the number that the next poll will have. */
  open(id: number, hash: number, effect: Effect, nextPoll: number): JournalEntry | "full" | "not stored" {
    const ran = effect !== "none";
    if (ran && this._full()) return "full";
    const { ticks } = this._time;
    const at = this._time.now() ?? 0;
    const entry = entryOf({ id, hash, ran, ticks, at, earlier: false, after: nextPoll });
    if (effect === "stored" && !this._store(entry)) return "not stored";
    this._entries.push(entry);
    if (this._entries.length > MOST) this._drop(this._entries.find((one) => !one.ran) ?? entry);
    return entry;
  }

  /** What the handler, or nobody, answered. */
  answered(entry: JournalEntry, text: string): void {
    entry.answer = text;
    // One budget for all that wait: the longest answer there may be, and what is short.
    const long = this._entries.filter((one) => lengthOf(one) > SHORT);
    let bytes = 0;
    for (const one of long) bytes += lengthOf(one);
    for (const one of long) {
      if (bytes <= this._answerBytes || one === entry) break;
      bytes -= lengthOf(one);
      one.answer = undefined;
    }
  }

  /** No 200 came for the answer: it is kept with the RPC, if it is short. */
  unacknowledged(entry: JournalEntry): void {
    const { id, hash, ticks, at, key, answer } = entry;
    if (key === undefined || answer === undefined || entry.answerStored || answer.length > SHORT) return;
    entry.answerStored = writeStored(this._host, key, { id, hash, ticks, at, answer });
  }

  /** `nextPoll` is the number that the next poll will have. */
  acknowledged(entry: JournalEntry, nextPoll: number): void {
    entry.acknowledgedAt = nextPoll;
    entry.answer = undefined;
    // After a restart there is no poll from before.
    this._release(entry);
  }

  /** Poll number `poll` brought an RPC that was not seen before: what came before that poll was sent waits no more. */
  overtaken(poll: number): void {
    for (const entry of this._entries)
      if (entry.acknowledgedAt === undefined && poll >= entry.after) this.acknowledged(entry, poll);
  }

  /** A poll ended, however that was. `oldest`: the lowest number of those open or not yet looked at. */
  pollEnded(oldest: number): void {
    for (const entry of this._entries.slice())
      if (entry.acknowledgedAt !== undefined && oldest >= entry.acknowledgedAt) this._drop(entry);
  }

  /** ms until what is over leaves the store; undefined: there is nothing. */
  get tidyMs(): number | undefined {
    if (this._stale.length === 0) return undefined;
    return Math.max(0, this._staleSince + LINGER_MS - this._host.clock.now());
  }

  /** What is over leaves the store. */
  tidy(): void {
    this._stale = this._stale.filter((key) => !this._host.store.delete(key));
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
    const since = typeof ticks === "number" ? ticks : this._time.ticks;
    const entry = entryOf({
      id,
      hash,
      ran: true,
      ticks: since,
      at: typeof at === "number" ? at : 0,
      earlier: true,
      after: 0,
    });
    entry.key = key;
    if (typeof answer === "string") entry.answer = answer;
    entry.answerStored = entry.answer !== undefined;
    this._entries.push(entry);
  }

  private _full(): boolean {
    this._expire();
    const begun = this._entries.filter(({ ran }) => ran);
    const open = begun.filter(({ acknowledgedAt }) => acknowledgedAt === undefined);
    return open.length >= ENTRIES || begun.length >= MOST;
  }

  private _expire(): void {
    for (const entry of this._entries.slice())
      if (entry.acknowledgedAt === undefined && this._age(entry) >= this._rememberMs) this._drop(entry);
  }

  /** For how long it is known, at the least. The time of day may be wrong: it is asked only over a restart, which ticks may not have counted. */
  private _age({ ticks, at, earlier }: JournalEntry): number {
    const ticked = this._time.ticks - ticks;
    const now = this._time.now();
    return earlier && at > 0 && now !== undefined ? Math.max(ticked, now - at) : ticked;
  }

  private _store(entry: JournalEntry): boolean {
    const used = this._entries.map(({ key }) => key).concat(this._stale);
    const key = this._stale.find((one) => one !== BEFORE) ?? KEYS.find((one) => !used.includes(one));
    const { id, hash, ticks, at } = entry;
    if (key === undefined || !writeStored(this._host, key, { id, hash, ticks, at })) return false;
    entry.key = key;
    this._stale = this._stale.filter((one) => one !== key);
    return true;
  }

  private _drop(entry: JournalEntry): void {
    this._entries = this._entries.filter((other) => other !== entry);
    this._release(entry);
  }

  private _release(entry: JournalEntry): void {
    if (entry.key === undefined) return;
    this._stale.push(entry.key);
    this._staleSince = this._host.clock.now();
    entry.key = undefined;
  }
}

const lengthOf = ({ answer }: JournalEntry): number => answer?.length ?? 0;

/** Of the store. */
const KEYS = ["rpc0", "rpc1", "rpc2", "rpc3", "rpc4", "rpc5", "rpc6", "rpc7", BEFORE] as const;

const entryOf = (
  known: Pick<JournalEntry, "id" | "hash" | "ran" | "ticks" | "at" | "earlier" | "after">,
): JournalEntry => {
  return {
    ...known,
    key: undefined,
    answer: undefined,
    answerStored: false,
    acknowledgedAt: undefined,
    failures: 0,
  };
};
