// Server-side RPC: the loop that polls, runs the handler and posts the answer.

import type { Events } from "../../events.js";
import type { Outcome } from "../../http/outcome.js";
import type { Answer } from "../../http/response.js";
import type { Job, PlatformSession, Wait } from "../../platform/index.js";
import { CONTENT, EXCHANGE_MS, HEAD_ROOM, post } from "../../platform/index.js";
import { type EndedPoll, LongPoll } from "../../platform/long-poll.js";
import { POLL_PAUSE_MS } from "../../platform/pace.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { rpcAnswerPath } from "../../wire/paths.js";
import {
  encodeError,
  parseRpcRequest,
  type RpcErrorCode,
  type RpcParsed,
  type RpcProblem,
  type RpcRequest,
} from "../../wire/rpc.js";
import { decodeStart } from "../../wire/text/text.js";
import type { Time } from "../time/time.js";
import type { Handler, HandlerResult, Handlers } from "./handlers.js";
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
/**
 * Attempts to post an answer that were lost or refused for its content, each after a poll that was
 * answered, until it is replaced.
 */
const MOST_REFUSALS = 4;

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

export class Rpc implements Job {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _handlers: Handlers;
  private readonly _journal: RpcJournal;
  private readonly _polls: LongPoll;
  /** The RPC acknowledged last, and how many times in a row it came again. */
  private _last: JournalEntry | undefined;
  private _repeats = 0;
  private readonly _reset: AnswerFollower;
  private readonly _followers: readonly PollFollower[];
  /** With short polls: the last one brought nothing, so no other is sent. */
  idle = false;

  constructor(
    session: PlatformSession,
    events: Events,
    time: Time,
    timing: PollTiming,
    handlers: Handlers,
    limits: RpcLimits,
    reset: AnswerFollower,
    followers: readonly PollFollower[],
  ) {
    this._session = session;
    this._events = events;
    this._handlers = handlers;
    this._reset = reset;
    this._followers = followers;
    this._journal = new RpcJournal(session.host, time, limits.rememberMs, limits.answerBytes);
    const loop = session.loop("rpc", this);
    this._polls = new LongPoll(session, timing, "rpc", limits.requestBytes, loop);
  }

  begin(): void {
    this._polls.forgetOpen();
    this.idle = false;
  }

  turn(): Wait | Promise<Wait> {
    const ended = this._polls.ended.shift();
    if (ended) return this._processPoll(ended);
    const tidyMs = this._journal.tidyMs;
    if (tidyMs === 0) this._journal.tidy();
    const due = this.idle ? undefined : this._polls.dueMs();
    if (due !== 0) return tidyMs ? Math.min(tidyMs, due ?? tidyMs) : due;
    this._polls.openPoll();
    return 0;
  }

  end(): void {
    this._journal.tidy();
  }

  forget(): boolean {
    return this._journal.forget();
  }

  /** Few functions here are async: each pending one costs a board 1 KB. */
  private async _processPoll(ended: EndedPoll): Promise<Wait> {
    const { poll, outcome, verdict } = ended;
    this.idle = this._session.connections.shortPolls && (verdict === "ended" || verdict === "busy");
    const delivered = verdict === "delivered" && outcome.kind === "done";
    const request = delivered ? this._parse(outcome.body, this._unread(outcome)) : undefined;
    if (request?.ok === false) {
      this._session.counters.countMalformed("an RPC");
      this._polls.pacer.slow();
      return 0;
    }
    await (request && this._processRpc(request, ended));
    this._polls.processed(ended);
    this._journal.pollEnded(this._polls.oldest);
    if (!delivered) this._journal.tidy();
    if (delivered || verdict === "ended") this._reset.pollHeard(poll.number);
    for (const follower of this._followers) follower.rpcPollEnded(delivered);
    return 0;
  }

  /** Processes the RPC that `poll` brought. */
  private _processRpc(request: RpcRequest, ended: EndedPoll): Promise<void> | undefined {
    const entry = this._journal.find(request.id, request.hash, ended.poll.number);
    // A request that the platform would not write like this may come from elsewhere.
    if (!entry && !request.problem) this._journal.supersedeBefore(ended.poll.number);
    if (!entry) return this._handle(request, ended);
    // Otherwise it is a copy from a poll sent before the acknowledgement; the platform has the
    // answer.
    return entry.acknowledgedAt === undefined ? this._answer(entry, request, undefined, ended) : undefined;
  }

  private async _handle(request: RpcRequest, ended: EndedPoll): Promise<void> {
    const { id, hash, method } = request;
    if (!this._isRepeat(request)) this._polls.pacer.clear();
    this._events.emit("rpc", { stage: "received", id, method });
    const handler = this._handlers.find(method);
    const error = errorFor(request, handler);
    const effect = error ? "none" : handler?.once ? "stored" : "unstored";
    const entry = this._journal.enter(id, hash, effect, this._polls.next);
    // Unsaved, it could run again after a restart.
    if (entry === "not stored")
      return this._answerWithoutHandler(request, failure("HANDLER_FAILED", NOT_STORED), ended);
    if (entry === "full") return this._answerWithoutHandler(request, failure("BUSY"), ended);
    const { clock } = this._session.host;
    const since = clock.now();
    const result = error ?? (await this._handlers.call(handler as Handler, request.params));
    this._journal.setAnswer(entry, result.text);
    if (clock.now() - since > LONG_MS) await this._polls.ask(ended);
    return this._answer(entry, request, result.error, ended);
  }

  private _answerWithoutHandler(request: RpcRequest, result: HandlerResult, ended: EndedPoll): Promise<void> {
    const { id, hash } = request;
    const entry = this._journal.enter(id, hash, "none", this._polls.next) as JournalEntry;
    this._journal.setAnswer(entry, result.text);
    return this._answer(entry, request, result.error, ended);
  }

  /** Posts the answer once. It is posted again only if a poll delivers the RPC again. */
  private async _answer(
    entry: JournalEntry,
    request: RpcRequest,
    failed: string | undefined,
    ended: EndedPoll,
  ): Promise<void> {
    const { id, method } = request;
    const unknown = entry.answer === undefined;
    const text = entry.answer ?? encodeError("OUTCOME_UNKNOWN");
    const error = unknown ? "OUTCOME_UNKNOWN" : failed;
    const acknowledged = !this._idWasReused(entry) && (await this._post(entry, text, ended));
    if (acknowledged) this._acknowledged(entry);
    else this._journal.unacknowledged(entry);
    if (!this._session.running) return;
    this._reset.answered(method, text, acknowledged, this._polls.next);
    this._pace(acknowledged ? this._repeats : this._journal.countFailure(entry));
    this._events.emit("rpc", {
      stage: acknowledged ? "answered" : "unanswered",
      id,
      method,
      ...(error && { error }),
    });
  }

  private _acknowledged(entry: JournalEntry): void {
    this._repeats = this._isRepeat(entry) ? this._repeats + 1 : 0;
    this._last = entry;
    this._journal.acknowledged(entry, this._polls.next);
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
   * the first answer counts.
   */
  private _post(entry: JournalEntry, text: string, ended: EndedPoll): Promise<boolean> {
    const patience = Math.min(ANSWER_DEADLINE_MS * (1 + entry.failures), EXCHANGE_MS);
    const answer = post(rpcAnswerPath(entry.id), this._encodeWithHeadRoom(text), patience);
    const request = Object.assign(answer, { headRoom: HEAD_ROOM, repeatable: false });
    return new Promise((resolve) => {
      this._session.dispatch(
        ended.poll.route === "rpcPoll" ? "rpcAnswer" : "secondRpcAnswer",
        request,
        undefined,
        (outcome) => resolve(this._posted(entry, outcome)),
      );
    });
  }

  /** True if the platform accepted the answer. */
  private _posted(entry: JournalEntry, outcome: Outcome): boolean {
    if (outcome.kind === "done") return true;
    // Something on the way accepts less than the platform, dislikes the content, or resets the
    // connection. Without any answer, this RPC would block those behind it.
    const isRefused =
      outcome.kind === "refused" ? CONTENT.includes(outcome.status) : outcome.kind === "lost" && outcome.sent;
    if (this._journal.countRefusal(entry, isRefused === true) >= MOST_REFUSALS)
      this._journal.setAnswer(entry, encodeError("ANSWER_TOO_LARGE"));
    return false;
  }

  /**
   * True if a later poll brought another call with this id, or a new one with a lower id, while the
   * handler ran: ids began again, and the platform would take the answer for another call.
   */
  private _idWasReused({ id, hash, after }: JournalEntry): boolean {
    return this._polls.ended.some(({ poll: { number }, outcome }) => {
      if (number < after || outcome.kind !== "done") return false;
      const came = this._parse(outcome.body, "too-large");
      if (!came.ok || came.id > id) return false;
      return came.id < id ? !this._journal.find(came.id, came.hash, number) : came.hash !== hash;
    });
  }

  private _parse(body: Uint8Array, unread: RpcProblem | undefined): RpcParsed {
    return parseRpcRequest(this._session.host.decode(body) ?? decodeStart(body), unread, body);
  }

  /** Why the request is answered without being read. */
  private _unread({ body, whole }: Pick<Answer, "body" | "whole">): RpcProblem | undefined {
    if (!whole) return "too-large";
    return this._session.hasRoomFor(body.length) ? undefined : "memory-short";
  }

  /** Encodes the text as a body with free bytes before it, so that it is not copied again. */
  private _encodeWithHeadRoom(text: string): Uint8Array {
    return this._session.host.encode(ROOM + text).subarray(HEAD_ROOM);
  }
}

/** The error answer to a request for which no handler runs. */
const errorFor = (request: RpcRequest, handler: Handler | undefined): HandlerResult | undefined => {
  if (request.problem === "too-large") return failure("PARAMS_TOO_LARGE");
  if (request.problem === "memory-short") return failure("MEMORY_SHORT");
  if (request.problem) return failure("BAD_PARAMS");
  return handler ? undefined : failure("METHOD_NOT_FOUND");
};

const failure = (error: RpcErrorCode, message?: string): HandlerResult => ({
  text: encodeError(error, message),
  error,
});
