// RPC: the loop that polls for server-side RPCs, runs their handlers and posts their answers.

import type { Events } from "../../events.js";
import type { Outcome } from "../../http/outcome.js";
import type { Job, PlatformSession, Wait } from "../../platform/index.js";
import { CONTENT, EXCHANGE_MS, HEAD_ROOM, post } from "../../platform/index.js";
import { type EndedPoll, LongPoll } from "../../platform/long-poll.js";
import { POLL_PAUSE_MS } from "../../platform/pace.js";
import type { PollTiming, PollVerdict } from "../../platform/poll-timing.js";
import type { WaitOptions } from "../../platform/wait.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import { rpcAnswerPath } from "../../wire/paths.js";
import { parseRpcRequest, type RpcErrorCode, type RpcProblem, type RpcRequest } from "../../wire/rpc.js";
import { decodeStart } from "../../wire/text/text.js";
import type { Time } from "../time/time.js";
import type { HandleOptions, RpcApi, RpcHandler } from "./api.js";
import { callPlatform } from "./client-call.js";
import { errorAnswer, type Handler, Handlers, type RpcAnswer } from "./handlers.js";
import { type JournalEntry, RpcJournal } from "./journal.js";
import type { RpcLimits } from "./options.js";

const ANSWER_DEADLINE_MS = 10_000;
/**
 * After a handler ran for longer than this, the platform may have moved the device to another node,
 * where ids begin at 0 again. So a poll asks whether the id belongs to another call by now.
 */
const LONG_MS = 5000;
/**
 * Number of failed answers after which polls slow down. Until then, the next poll follows soon,
 * within the time that a caller waits.
 */
const QUICK_RETRIES = 12;
const ROOM = " ".repeat(HEAD_ROOM);
const NOT_STORED = "the device can't store that the RPC was begun";
const PROBLEMS: { readonly [P in RpcProblem]: RpcErrorCode } = {
  "too-large": "PARAMS_TOO_LARGE",
  "memory-short": "MEMORY_SHORT",
  malformed: "BAD_PARAMS",
};

/** A server-side RPC. */
interface Rpc extends RpcRequest {
  /** Checksum of the request: distinguishes RPCs with the same id. */
  readonly hash: number;
}

type Poll = EndedPoll["poll"];

/** A job that acts when a poll ended, before the next one is sent. */
export interface PollFollower {
  /** `delivered`: the poll brought an RPC, which was answered. */
  rpcPollEnded(delivered: boolean): void;
}

/** Acts when an answer was posted and the platform has it. */
export interface AnswerFollower {
  /** An answer was posted. Polls from number `nextPoll` on are sent after it. */
  answered(method: string, text: string, acknowledged: boolean, nextPoll: number): void;
  /** The platform held poll number `poll`, or answered it with an RPC. */
  pollHeard(poll: number): void;
}

/** Server-side and client-side RPC; the calls are documented in `RpcApi`. */
export class RpcLoop implements Job, RpcApi {
  readonly answerBytes: number;
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _handlers: Handlers;
  private readonly _journal: RpcJournal;
  private readonly _polls: LongPoll;
  /** The RPC whose answer was accepted last, and how many times in a row it came again. */
  private _last: JournalEntry | undefined;
  private _repeats = 0;
  private readonly _reset: AnswerFollower;
  private readonly _followers: readonly PollFollower[];
  /** Client-side RPCs in progress. */
  private _openCalls = 0;
  /** With short polls: the last one brought nothing, so no other is sent. */
  idle = false;

  constructor(
    session: PlatformSession,
    events: Events,
    time: Time,
    timing: PollTiming,
    limits: RpcLimits,
    reset: AnswerFollower,
    followers: readonly PollFollower[],
  ) {
    const { answerBytes } = limits;
    this.answerBytes = answerBytes;
    this._session = session;
    this._events = events;
    this._reset = reset;
    this._followers = followers;
    this._handlers = new Handlers(session, answerBytes);
    this._journal = new RpcJournal(session.host, time, answerBytes);
    this._polls = new LongPoll(session, timing, "rpc", limits.requestBytes, session.loop("rpc", this));
  }

  handle<P = unknown>(method: string, handler: RpcHandler<P>, options: HandleOptions = {}): void {
    this._handlers.add(method, handler as RpcHandler, options);
  }

  async call<T = unknown>(method: string, params: unknown, options: WaitOptions = {}): Promise<T> {
    this._openCalls++;
    try {
      return (await callPlatform(this._session, this.answerBytes, method, params, options)) as T;
    } finally {
      if (--this._openCalls === 0) this._session.connections.hangUp("call");
    }
  }

  begin(): void {
    this._polls.forgetOpen();
    this.idle = false;
  }

  turn(): Wait | Promise<Wait> {
    const ended = this._polls.ended.shift();
    if (ended) return this._processPoll(ended);
    const dueMs = this.idle ? undefined : this._polls.dueMs();
    if (dueMs === 0) this._polls.openPoll();
    return dueMs;
  }

  end(): void {
    this._journal.tidy();
  }

  forget(): boolean {
    return this._journal.forget();
  }

  private _processPoll({ poll, outcome, verdict }: EndedPoll): Wait | Promise<Wait> {
    this.idle = this._session.connections.shortPolls && (verdict === "ended" || verdict === "busy");
    if (verdict !== "delivered" || outcome.kind !== "done") {
      this._journal.tidy();
      return this._pollProcessed(poll, verdict);
    }
    const { body, whole } = outcome;
    const hasRoom = this._session.hasRoomFor(body.length);
    const rpc = this._parse(body, whole ? (hasRoom ? undefined : "memory-short") : "too-large");
    // The body is not kept while the handler runs.
    if (rpc) return this._serve(rpc, poll).then(() => this._pollProcessed(poll, verdict));
    this._session.counters.countMalformed("an RPC");
    this._polls.pacer.slow();
    return 0;
  }

  private _pollProcessed(poll: Poll, verdict: PollVerdict): Wait {
    this._polls.processed(poll);
    this._journal.pollEnded(this._polls.oldest);
    if (verdict === "delivered" || verdict === "ended") this._reset.pollHeard(poll.number);
    for (const follower of this._followers) follower.rpcPollEnded(verdict === "delivered");
    return 0;
  }

  /** Answers the RPC that a poll brought. Few functions are async: each costs a board 1 KB. */
  private async _serve(rpc: Rpc, poll: Poll): Promise<void> {
    const { clock } = this._session.host;
    const known = this._journal.find(rpc.id, rpc.hash, poll.number);
    // A copy from a poll sent before; the platform has the answer.
    if (known === "settled") return;
    const entry = known ?? this._receive(rpc, poll);
    let error: string | undefined;
    if (!known) {
      const since = clock.now();
      const handler = this._admit(rpc, entry);
      const answer = "text" in handler ? handler : await this._handlers.run(handler, rpc.params);
      this._journal.setAnswer(entry, answer.text);
      error = answer.error;
      if (clock.now() - since > LONG_MS) await this._polls.askAgain(poll);
    }
    const answer =
      entry.answer === undefined ? errorAnswer("OUTCOME_UNKNOWN") : { text: entry.answer, error };
    const outcome = this._idWasReused(entry) ? undefined : await this._postAnswer(entry, answer.text, poll);
    this._noteAnswer(entry, rpc.method, answer, outcome);
  }

  private _receive(rpc: Rpc, poll: Poll): JournalEntry {
    const { id, hash, method, problem } = rpc;
    // A request that the platform would not write like this may come from elsewhere.
    if (!problem) this._journal.supersedeBefore(poll.number);
    if (!this._isRepeat(rpc)) this._polls.pacer.clear();
    this._events.emit("rpc", { stage: "received", id, method });
    return this._journal.enter(id, hash, this._polls.next);
  }

  /** The handler to run, or the answer if none may run. */
  private _admit({ problem, method }: Rpc, entry: JournalEntry): Handler | RpcAnswer {
    if (problem) return errorAnswer(PROBLEMS[problem]);
    const handler = this._handlers.find(method);
    if (!handler) return errorAnswer("METHOD_NOT_FOUND");
    const admitted = this._journal.admit(entry, handler.once);
    if (admitted === "full") return errorAnswer("BUSY");
    // Unsaved, it could run again after a restart.
    return admitted === "admitted" ? handler : errorAnswer("HANDLER_FAILED", NOT_STORED);
  }

  /** An answer was posted once; without `outcome`, it was not sent. */
  private _noteAnswer(
    entry: JournalEntry,
    method: string,
    { text, error }: RpcAnswer,
    outcome: Outcome | undefined,
  ): void {
    const acknowledged = outcome?.kind === "done";
    const failures = acknowledged ? 0 : this._journal.noteFailure(entry, isRefused(outcome));
    if (acknowledged) {
      this._repeats = this._isRepeat(entry) ? this._repeats + 1 : 0;
      this._last = entry;
      this._journal.settle(entry, this._polls.next);
    }
    if (!this._session.running) return;
    this._reset.answered(method, text, acknowledged, this._polls.next);
    this._pace(acknowledged ? this._repeats : failures);
    const stage = acknowledged ? "answered" : "unanswered";
    this._events.emit("rpc", { stage, id: entry.id, method, ...(error && { error }) });
  }

  /**
   * True if this is the same call as the one answered last: an operator repeated it after a
   * platform restart, or the platform ignores answers that it acknowledges.
   */
  private _isRepeat({ id, hash }: Pick<JournalEntry, "id" | "hash">): boolean {
    return this._last?.id === id && this._last.hash === hash;
  }

  /** Slows down if the platform redelivers answered RPCs or rejects answers. */
  private _pace(times: number): void {
    if (times === 0) this._polls.pacer.clear();
    else if (times <= QUICK_RETRIES) this._polls.pacer.pause(POLL_PAUSE_MS);
    else this._polls.pacer.slow();
  }

  /**
   * Posts an answer once, on the connection that brought the RPC: another may be idle for long, and
   * dead. The limit of 10 s grows after each failure, because a long answer may take that long on a
   * slow line. It is not repeated: after a platform restart the id may belong to another call, and
   * the first answer counts. It is posted again only if a poll delivers the RPC again.
   */
  private _postAnswer(entry: JournalEntry, text: string, { route }: Poll): Promise<Outcome> {
    const patience = Math.min(ANSWER_DEADLINE_MS * (1 + entry.failures), EXCHANGE_MS);
    // Free bytes before the body, so that it is not copied again.
    const body = this._session.host.encode(ROOM + text).subarray(HEAD_ROOM);
    const answer = post(rpcAnswerPath(entry.id), body, patience);
    return this._session.send(
      route === "rpcPoll" ? "rpcAnswer" : "secondRpcAnswer",
      Object.assign(answer, { headRoom: HEAD_ROOM, repeatable: false }),
    );
  }

  /**
   * True if a later poll brought another call with this id, or a new one with a lower id, while the
   * handler ran: ids began again, and the platform would take the answer for another call.
   */
  private _idWasReused({ id, hash, after }: JournalEntry): boolean {
    return this._polls.ended.some(({ poll: { number }, outcome }) => {
      if (number < after || outcome.kind !== "done") return false;
      const came = this._parse(outcome.body, "too-large");
      if (!came || came.id > id) return false;
      return came.id < id ? !this._journal.find(came.id, came.hash, number) : came.hash !== hash;
    });
  }

  /** `unread`: why the request is answered without being read. Undefined if it is malformed. */
  private _parse(body: Uint8Array, unread: RpcProblem | undefined): Rpc | undefined {
    const { host } = this._session;
    const request = parseRpcRequest(host.decode(body) ?? decodeStart(body), unread);
    return request.ok ? { ...request, hash: crcOf(host, body) } : undefined;
  }
}

/**
 * Something on the way accepts less than the platform, dislikes the content, or resets the
 * connection.
 */
const isRefused = (outcome: Outcome | undefined): boolean =>
  outcome?.kind === "refused"
    ? CONTENT.includes(outcome.status)
    : outcome?.kind === "lost" && outcome.sent === true;
