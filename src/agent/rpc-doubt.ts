// Which server-side RPCs may come again, so that no handler runs twice.
//
// The platform hands an unanswered two-way RPC out on every poll, and any RPC to every poll that is open; its ids begin at 0 again
// when it restarts. So an RPC is known by id and content, and only until a poll that was opened after its answer was acknowledged
// has ended without it.
import type { Host } from "../port.js";
import { forgetStored, readStored, writeStored } from "./stored.js";

const STORED = "doubt";
/** Longer answers are not kept over a restart: the RPC is then answered `OUTCOME_UNKNOWN`. */
const STORED_ANSWER_LIMIT = 512;
/** RPCs that may be in doubt at once: the one unanswered, and copies of those before it on polls not yet ended. */
const ENTRIES = 8;

/** An RPC that may come again. */
export interface Doubt {
  readonly id: number;
  /** Of method and params. */
  readonly hash: number;
  /** JSON text; undefined while the handler runs, or if it ran before a restart and its outcome is not known. */
  answer: string | undefined;
  /** Polls from this number on were opened after the answer was acknowledged, or given up. */
  settledAt: number | undefined;
  acknowledged: boolean;
  /** A poll opened after that has ended without this RPC. */
  cleared: boolean;
  /** The answer is in the store. */
  kept: boolean;
  /** How often an answer was refused, or came to nothing. */
  failures: number;
}

export class Doubts {
  private readonly _host: Host;
  private _entries: Doubt[] = [];
  private _stored: Doubt | undefined;
  /** What is stored is over. */
  private _stale = false;

  constructor(host: Host) {
    this._host = host;
    const stored = readStored(host, STORED);
    if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return;
    const { id, hash, answer } = stored;
    if (typeof id !== "number" || typeof hash !== "number") return;
    // Whoever ran it is gone: every poll from now on is later than its answer.
    const text = typeof answer === "string" ? answer : undefined;
    const kept = text !== undefined;
    this._stored = {
      id,
      hash,
      answer: text,
      settledAt: 0,
      acknowledged: false,
      cleared: false,
      kept,
      failures: 0,
    };
    this._entries = [this._stored];
  }

  /** The RPC that poll number `poll` brought, if it was seen before. */
  find(id: number, hash: number, poll: number): Doubt | undefined {
    return this._entries.find((entry) => entry.id === id && entry.hash === hash && !isOver(entry, poll));
  }

  /** Before the handler runs. `durable`: also over a restart; undefined if that could not be stored. */
  open(id: number, hash: number, durable: boolean): Doubt | undefined {
    const entry: Doubt = {
      id,
      hash,
      answer: undefined,
      settledAt: undefined,
      acknowledged: false,
      cleared: false,
      kept: false,
      failures: 0,
    };
    if (durable && !writeStored(this._host, STORED, { id, hash })) return undefined;
    if (durable) {
      this._stored = entry;
      this._stale = false;
    }
    this._entries.push(entry);
    if (this._entries.length > ENTRIES) this._forget(this._entries[0] as Doubt);
    this._tidy();
    return entry;
  }

  /** The answer was not acknowledged at once: it is kept with the RPC, if it is short. */
  keepAnswer(entry: Doubt): void {
    if (entry !== this._stored || entry.answer === undefined || entry.kept) return;
    if (entry.answer.length > STORED_ANSWER_LIMIT) return;
    entry.kept = writeStored(this._host, STORED, { id: entry.id, hash: entry.hash, answer: entry.answer });
  }

  /** The answer was acknowledged (or given up); `nextPoll` is the number that the next poll will have. */
  settle(entry: Doubt, nextPoll: number, acknowledged: boolean): void {
    entry.settledAt = nextPoll;
    entry.acknowledged = acknowledged;
  }

  /**
   * Poll number `poll` ended in good order, with the RPC `id` or without any. `oldestOpen`: the lowest number of the polls still open.
   * What is over stays in the store if an RPC came: mostly that takes its place, which is one write where there would be two.
   */
  pollEnded(poll: number, id: number | undefined, oldestOpen: number): void {
    for (const entry of this._entries.slice()) {
      if (entry.settledAt === undefined) continue;
      if (poll >= entry.settledAt && entry.id !== id && !entry.cleared) {
        entry.cleared = true;
        // Nobody said when the platform let it go: one that was opened before this one may still bring it.
        if (!entry.acknowledged) entry.settledAt = poll;
      }
      if (entry.cleared && oldestOpen >= entry.settledAt) this._forget(entry);
    }
    if (id === undefined) this._tidy();
  }

  forget(): boolean {
    this._entries = [];
    this._stored = undefined;
    this._stale = false;
    return forgetStored(this._host, STORED);
  }

  private _forget(entry: Doubt): void {
    this._entries = this._entries.filter((other) => other !== entry);
    if (entry !== this._stored) return;
    this._stored = undefined;
    this._stale = true;
  }

  private _tidy(): void {
    if (this._stale) this._host.store.delete(STORED);
    this._stale = false;
  }
}

/** What a poll opened later brings under this id is a new RPC, although copies of the old one may still come on older polls. */
function isOver(entry: Doubt, poll: number): boolean {
  return entry.cleared && entry.settledAt !== undefined && poll >= entry.settledAt;
}
