// Keeps a poll for server-side RPC open (GET /api/v1/{token}/rpc?timeout=MS).
//
// A one-way RPC that arrives while no poll is open is lost by the platform if the last poll ended by time-out. So with two
// connections or more the next poll opens, on a connection of its own, shortly before the last one ends.
import type { Outcome } from "../net/outcome.js";
import type { PollTiming } from "../net/poll.js";
import { rpcPollPath } from "../wire/paths.js";
import type { Lane, Link } from "./link.js";
import type { Signal } from "./signal.js";

const OVERLAP_MS = 2000;
/** With one connection everything else waits for the poll. */
const SHARED_POLL_MS = 25_000;

export interface EndedPoll {
  readonly number: number;
  readonly outcome: Outcome;
  readonly tookMs: number;
}

interface OpenPoll {
  readonly number: number;
  readonly lane: Lane;
  readonly askedMs: number;
  /** When it was handed to the connection. */
  since: number;
}

export class RpcPolls {
  readonly #link: Link;
  readonly #timing: PollTiming;
  readonly #signal: Signal;
  readonly #lanes: readonly [Lane, Lane];
  readonly #limit: number;
  #open: OpenPoll[] = [];
  #ended: EndedPoll[] = [];
  /** The number of the next poll. */
  next = 0;

  constructor(link: Link, timing: PollTiming, signal: Signal, limit: number) {
    this.#link = link;
    this.#timing = timing;
    this.#signal = signal;
    this.#lanes = [link.lane("rpc"), link.lane("rpc2")];
    this.#limit = limit;
  }

  /** The lowest number of the polls still open. */
  get oldestOpen(): number {
    return this.#open.reduce((oldest, poll) => Math.min(oldest, poll.number), this.next);
  }

  /** A new start: what an earlier one left open is of no interest. */
  clear(): void {
    this.#open = [];
    this.#ended = [];
  }

  /** Takes the next poll that ended. */
  take(): EndedPoll | undefined {
    return this.#ended.shift();
  }

  /** ms until the next poll is due: 0 now, undefined not before one of the open ones ends. */
  dueMs(): number | undefined {
    const [only, other] = this.#open;
    if (!only) return 0;
    if (other || this.#link.mode === 1) return undefined;
    return Math.max(0, only.since + only.askedMs - OVERLAP_MS - this.#link.host.clock.now());
  }

  open(): void {
    const clock = this.#link.host.clock;
    const free = this.#lanes.find((lane) => !this.#open.some((poll) => poll.lane === lane));
    if (!free) return;
    const askedMs =
      this.#link.mode === 1 ? Math.min(SHARED_POLL_MS, this.#timing.askedMs) : this.#timing.askedMs;
    const poll: OpenPoll = { number: this.next++, lane: free, askedMs, since: clock.now() };
    this.#open.push(poll);
    const request = {
      method: "GET",
      path: rpcPollPath(askedMs),
      deadlineMs: this.#timing.deadlineMs,
      limit: this.#limit,
      // Sent again it would take a second RPC whose first hand-out may be on its way.
      repeatable: false,
      sent: () => {
        poll.since = clock.now();
      },
    } as const;
    free.send(request).then((outcome) => this.#end(poll, outcome));
  }

  /** The platform was busy: the next polls wait. */
  hold(): void {
    for (const lane of this.#lanes) lane.hold();
  }

  clearHold(): void {
    for (const lane of this.#lanes) lane.clear();
  }

  ready(): Promise<void> {
    return this.#lanes[0].ready();
  }

  #end(poll: OpenPoll, outcome: Outcome): void {
    const at = this.#open.indexOf(poll);
    if (at < 0) return;
    this.#open.splice(at, 1);
    // One idle connection is enough: the other poll has its own.
    if (this.#open.length > 0) poll.lane.hangUp();
    this.#ended.push({ number: poll.number, outcome, tookMs: this.#link.host.clock.now() - poll.since });
    this.#signal.notify();
  }
}
