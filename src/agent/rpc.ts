// Server-side RPC: the loop from a poll to the handler and back with the answer.
import type { PollTiming } from "../net/poll.js";
import { rpcAnswerPath } from "../wire/paths.js";
import { encodeError, parseRpcRequest, type RpcErrorCode, type RpcRequest } from "../wire/rpc.js";
import { decodeStart } from "../wire/text.js";
import { HEAD_ROOM } from "./batch.js";
import { EXCHANGE_MS } from "./deadline.js";
import type { Events } from "./events.js";
import { Lane } from "./lane.js";
import type { Link } from "./link.js";
import type { Job, Wait } from "./loop.js";
import type { RpcLimits } from "./options.js";
import { PollMemory } from "./poll-memory.js";
import { post } from "./requests.js";
import { type Doubt, Doubts } from "./rpc-doubt.js";
import type { Handler, HandlerResult, Handlers } from "./rpc-handlers.js";
import { type EndedPoll, RpcPolls } from "./rpc-polls.js";

const ANSWER_DEADLINE_MS = 10_000;
const TOO_LARGE = 413;
/** An answer that came to nothing is tried again so often within the time that a caller waits, then ever more rarely. */
const QUICK = 12;
const PAUSE_MS = 500;
const ROOM = " ".repeat(HEAD_ROOM);
/** Bytes of an answer that is refused as too large for another reason. */
const SMALL = 256;

/** Told of what comes of RPCs. */
export interface RpcWatcher {
  /** A poll ended; if it brought an RPC, that was answered. */
  pollEnded(): void;
  /** The platform took an answer, also one that a run before this one gave. */
  answered(method: string, text: string): void;
}

export class Rpc implements Job {
  private readonly _link: Link;
  private readonly _events: Events;
  private readonly _handlers: Handlers;
  private readonly _doubts: Doubts;
  private readonly _memory: PollMemory;
  private readonly _polls: RpcPolls;
  private readonly _uplink: Lane;
  watcher: RpcWatcher | undefined;
  /** With brief polls: the last one brought nothing, so there is no other. */
  settled = false;

  constructor(link: Link, events: Events, timing: PollTiming, handlers: Handlers, limits: RpcLimits) {
    this._link = link;
    this._events = events;
    this._handlers = handlers;
    this._doubts = new Doubts(link.host);
    const loop = link.loop("rpc", this);
    this._polls = new RpcPolls(link, timing, loop, limits.requestBytes);
    this._uplink = new Lane(link, "uplink");
    this._memory = new PollMemory(link.host, link.target, timing);
  }

  begin(): void {
    this._polls.clear();
    this.settled = false;
  }

  async turn(): Promise<Wait> {
    const ended = this._polls.take();
    if (ended) {
      await this._end(ended);
      return 0;
    }
    const due = this.settled ? undefined : this._polls.dueMs();
    if (due !== 0) return due;
    const ready = this._polls.ready();
    if ((ready === true || (await ready)) && this._link.running) this._polls.open();
    return 0;
  }

  forget(): boolean {
    return this._doubts.forget();
  }

  private async _end(poll: EndedPoll): Promise<void> {
    const { outcome, verdict } = poll;
    this._memory.keep();
    this.settled = this._link.ways.brief && (verdict === "ended" || verdict === "busy");
    if (verdict === "busy") this._polls.hold();
    if (verdict === "ended") {
      this._polls.clearHold();
      // An empty 200 is of somebody on the way: only 408, 503 and 504 tell that the platform had nothing to hand out.
      if (outcome.kind === "busy") this._doubts.pollEnded(poll.number, undefined, this._polls.oldestOpen);
    }
    if (verdict !== "delivered" || outcome.kind !== "done") {
      this.watcher?.pollEnded();
      return;
    }
    const text = this._link.host.decode(outcome.body) ?? decodeStart(outcome.body);
    const request = parseRpcRequest(text, outcome.whole);
    if (!request.ok) {
      this._link.counters.malformed("an RPC");
      this._polls.hold();
      return;
    }
    // Looked for first: the end of the last poll that may bring a copy is also what makes it forgotten.
    const again = this._doubts.find(request.id, request.hash, poll.number);
    this._doubts.pollEnded(poll.number, request.id, this._polls.oldestOpen);
    if (again) await this._repeat(again, request, poll.number);
    else {
      this._polls.clearHold();
      await this._handle(request);
    }
    this.watcher?.pollEnded();
  }

  private async _handle(request: RpcRequest): Promise<void> {
    this._events.emit("rpc", { stage: "received", id: request.id, method: request.method });
    const handler = this._handlers.find(request.method);
    const refusal = refuse(request, handler);
    const doubt = this._doubts.open(request.id, request.hash, !refusal && handler?.once === true);
    if (!doubt) {
      // Unheard of by the next start, it could run a second time.
      const answer = encodeError("HANDLER_FAILED", "the device can't store that the RPC was begun");
      const unstored = this._doubts.open(request.id, request.hash, false);
      if (unstored) await this._answer(unstored, request, answer, "HANDLER_FAILED");
      return;
    }
    const result = refusal ?? (await this._handlers.run(handler as Handler, request.params));
    await this._answer(doubt, request, result.text, result.error);
  }

  /** The platform handed it out once more: the answer goes out again, the handler doesn't run. */
  private async _repeat(doubt: Doubt, request: RpcRequest, poll: number): Promise<void> {
    // A copy on a poll that was open before the answer was acknowledged: the platform has the answer.
    if (doubt.acknowledged && doubt.settledAt !== undefined && poll < doubt.settledAt) return;
    const unknown = doubt.answer === undefined;
    const answer = doubt.answer ?? encodeError("OUTCOME_UNKNOWN");
    await this._answer(doubt, request, answer, unknown ? "OUTCOME_UNKNOWN" : undefined);
  }

  private async _answer(
    doubt: Doubt,
    request: RpcRequest,
    text: string,
    error: RpcErrorCode | undefined,
  ): Promise<void> {
    doubt.answer = text;
    const { id, method } = request;
    // A platform that hands out what it took the answer of, or takes none, would do so without a pause.
    const insists = doubt.acknowledged;
    const acknowledged = await this._post(doubt, text);
    this._doubts.settle(doubt, this._polls.next, acknowledged);
    if (!acknowledged) this._doubts.keepAnswer(doubt);
    if (!this._link.running) return;
    if (acknowledged) this.watcher?.answered(request.method, text);
    if (acknowledged && !insists) this._polls.clearHold();
    else if (doubt.failures++ < QUICK) this._polls.pause(PAUSE_MS);
    else this._polls.hold();
    this._events.emit("rpc", {
      stage: acknowledged ? "answered" : "unanswered",
      id,
      method,
      ...(error && { error }),
    });
  }

  /**
   * Posts an answer for 10 s at most, and longer each time it did not come through: a long one may take that long on a slow line. After
   * that the platform hands the RPC out again, if it still wants the answer.
   */
  private async _post(doubt: Doubt, text: string): Promise<boolean> {
    const { clock } = this._link.host;
    const patience = Math.min(ANSWER_DEADLINE_MS * (1 + doubt.failures), EXCHANGE_MS);
    const end = clock.now() + patience;
    let body = this._roomy(text);
    for (let left = patience; left > 0 && this._link.running; left = end - clock.now()) {
      const answer = { ...post(rpcAnswerPath(doubt.id), body, left), headRoom: HEAD_ROOM };
      const outcome = await this._uplink.send(answer);
      if (outcome.kind === "done") {
        this._uplink.clear();
        return true;
      }
      this._doubts.keepAnswer(doubt);
      if (outcome.kind === "refused") {
        // The way to the platform takes less than the platform: without an answer this RPC would block those behind it.
        if (outcome.status !== TOO_LARGE || body.length <= SMALL) return false;
        body = this._roomy(encodeError("ANSWER_TOO_LARGE"));
        continue;
      }
      if (outcome.kind === "busy") this._uplink.hold(outcome.retryAfterMs);
      await this._uplink.ready();
    }
    return false;
  }

  /** The text as a body with room before it, so that it is copied no more. */
  private _roomy(text: string): Uint8Array {
    return this._link.host.encode(ROOM + text).subarray(HEAD_ROOM);
  }
}

/** The error answer to what no handler is run for. */
function refuse(request: RpcRequest, handler: Handler | undefined): HandlerResult | undefined {
  if (request.flaw === "too-large") return failure("PARAMS_TOO_LARGE");
  if (request.flaw) return failure("BAD_PARAMS");
  return handler ? undefined : failure("METHOD_NOT_FOUND");
}

const failure = (error: RpcErrorCode): HandlerResult => ({ text: encodeError(error), error });
