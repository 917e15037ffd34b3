// What the platform handed out of RPCs and what it got of answers, next to what the device's
// handlers did: who ran how often, and whose answer went where.
import type { SeenRequest } from "../../fakes/server.js";
import type { SimulatedDevice } from "../device.js";
import type { World } from "../world.js";

/** One call of the operator, as the platform has it. */
export interface Call {
  readonly nonce: number;
  readonly id: number;
  /** Method and params. */
  readonly content: string;
  /** Restarts of the platform before it. */
  readonly restarts: number;
  /** When it was handed out for the first time. */
  handedOutAt: number | undefined;
}

/** One run of a handler. */
export interface Run {
  readonly at: number;
  readonly id: number;
  readonly content: string;
  /** Lives of the device before it. */
  readonly powerCycles: number;
  /** What the device took for the time of day, minus the true one. */
  readonly timeOffMs: number;
  /** When the platform took its answer first, and the device heard so. */
  acknowledgedAt: number;
  /**
   * The store failed from then on, or before it was to let go of the RPC: the next start finds the
   * answer as one that was not acknowledged.
   */
  unkept: boolean;
}

const ANSWER = /\/rpc\/(-?\d+)$/;
const POLL = /\/rpc\?timeout/;
/** By then what acknowledges an answer has reached the device, if nothing broke meanwhile. */
const HEARD_MS = 5000;
/** An unacknowledged RPC is remembered for so long. */
const REMEMBERED_MS = 24 * 3_600_000;

export class HandedOut {
  readonly #world: World;
  readonly #fail: (what: string) => void;
  readonly calls: Call[] = [];
  readonly runs: Run[] = [];
  /** By id: how often an RPC was handed out, and an answer posted. */
  readonly #handed = new Map<number, number>();
  readonly #posts = new Map<number, number>();
  /** When the device forgot everything, on an operator's demand. */
  readonly #forgotten: number[] = [];
  /** Ids that came once more in what no device can distinguish from an answer to its next poll. */
  readonly #copies: { id: number; at: number }[] = [];

  readonly #body: SimulatedDevice;

  constructor(world: World, fail: (what: string) => void, body: SimulatedDevice) {
    this.#world = world;
    this.#fail = fail;
    this.#body = body;
    world.platform.onAnswer = (request, status, body) => this.#answered(request, status, body);
  }

  /** The id that the platform gives to its next RPC. */
  get nextId(): number {
    return this.calls.filter(({ restarts }) => restarts === this.#world.restarts).length;
  }

  /** The operator sends one. */
  send(nonce: number, content: string): Call {
    const { restarts } = this.#world;
    const call = { nonce, id: this.nextId, content, restarts, handedOutAt: undefined };
    this.calls.push(call);
    return call;
  }

  /** The device was reset. */
  forget(): void {
    this.#forgotten.push(this.#world.clock.now());
  }

  /** RPC `id` comes once more, and nobody knows to which poll. */
  copied(id: number): void {
    this.#copies.push({ id, at: this.#world.clock.now() });
    this.#world.count("a copy that HTTP/1.1 can't distinguish");
    this.#hand(id);
  }

  /** Somebody on the way made one up. */
  madeUp(id: number): void {
    this.#hand(id);
  }

  /** A request of the device came. */
  came({ method, path }: SeenRequest): void {
    const id = method === "POST" ? Number(ANSWER.exec(path)?.[1] ?? Number.NaN) : Number.NaN;
    if (Number.isNaN(id)) return;
    const posts = (this.#posts.get(id) ?? 0) + 1;
    this.#posts.set(id, posts);
    const handed = this.#handed.get(id) ?? 0;
    if (posts > handed)
      this.#fail(`RPC ${id} was handed out ${handed} times, and its answer posted ${posts} times`);
  }

  /** A handler begins to run. */
  ran(id: number, content: string): Run {
    const { clock, powerCycles } = this.#world;
    const timeOffMs = this.#body.wallOffsetMs;
    const acknowledgedAt = Number.POSITIVE_INFINITY;
    const run = { at: clock.now(), id, content, powerCycles, timeOffMs, acknowledgedAt, unkept: false };
    this.runs.push(run);
    const alike = (one: { id: number; content: string }) => one.id === id && one.content === content;
    const runs = this.runs.filter(alike);
    const calls = this.calls.filter((call) => alike(call) && call.handedOutAt !== undefined);
    const more = this.#copies.filter((copy) => copy.id === id).length;
    if (runs.length > calls.length + more + this.#allowedRepeats(runs))
      this.#fail(
        `${calls.length} calls ${content} were handed out as RPC ${id}, the handler ran ${runs.length} times`,
      );
    return run;
  }

  /**
   * How often a run may be the second of its RPC: the device was reset in between, or its time was
   * over.
   */
  #allowedRepeats(runs: readonly Run[]): number {
    const world = this.#world;
    return runs.filter(({ at, powerCycles, timeOffMs }, i) => {
      const before = runs[i - 1];
      if (!before) return false;
      if (this.#forgotten.some((when) => when >= before.at && when <= at)) return true;
      // A copy of another RPC looks like a later one, which the platform hands out only after it
      // gave up those before.
      if (this.#copies.some((copy) => copy.id !== before.id && copy.at >= before.at && copy.at <= at))
        return before.acknowledgedAt > at;
      // After a restart the device's time of day counts, and a clock that was months ahead ends any
      // time.
      const restarted = powerCycles > before.powerCycles;
      const passedMs = at - before.at + (restarted ? Math.max(0, timeOffMs - before.timeOffMs) : 0);
      const over = passedMs >= REMEMBERED_MS || (world.farAhead && restarted);
      if (over) world.count("an RPC whose time was over");
      return over;
    }).length;
  }

  /** An earlier call was the same, before a restart. */
  wasSame({ id, content, restarts }: Call): boolean {
    return this.calls.some((one) => one.id === id && one.content === content && one.restarts < restarts);
  }

  /**
   * Why the answer of `run` may have reached the caller of `call`, which came after it. Undefined:
   * it may not.
   */
  excuse(call: Call, run: Run | undefined): string | undefined {
    if (call.restarts === 0) return undefined;
    const { id, content, handedOutAt } = call;
    // An answer under way when the platform restarted goes to the call that has its id now: the
    // platform has nothing else to distinguish them.
    if (handedOutAt === undefined) return "an answer under way at a restart";
    if (!run) return undefined;
    // So does an answer of a device that has not got the call, because it was lost on the way.
    const arrived = this.runs.some(
      (one) => one.id === id && one.content === content && one.at >= handedOutAt,
    );
    if (run.id === id && run.at < handedOutAt && !arrived) return "a call lost on the way after a restart";
    // The same id, the same content, a restart, and the first answer unacknowledged: nobody can
    // decide which call it is.
    if (run.content !== content || run.id !== id) return undefined;
    if (handedOutAt <= run.acknowledgedAt) return "unacknowledged, a restart, the same call as the same id";
    return run.unkept ? "acknowledged, which no store took, a restart, the same call" : undefined;
  }

  #answered(request: SeenRequest, status: number, body: string): void {
    if (status !== 200) return;
    if (POLL.test(request.path) && body.length > 0) {
      const id = Number(/^\{"id":(-?\d+),/.exec(body)?.[1]);
      this.#hand(id);
      const now = this.#world.clock.now();
      const call = this.calls.findLast((one) => one.id === id && one.restarts === this.#world.restarts);
      if (call) call.handedOutAt ??= now;
    } else if (ANSWER.test(request.path)) this.#acknowledge(request);
  }

  #hand(id: number): void {
    this.#handed.set(id, (this.#handed.get(id) ?? 0) + 1);
  }

  /**
   * The device heard that the answer of a run was taken, for sure: nothing happened to what said
   * so.
   */
  #acknowledge({ body, peer }: SeenRequest): void {
    const number = Number(/"run":(\d+)/.exec(body)?.[1] ?? Number.NaN);
    const run = this.runs[number];
    const { met, clock } = this.#world;
    if (!run || met !== "clear") return;
    const at = clock.now();
    clock.timer(HEARD_MS, () => {
      if (this.#body.storeFailedAt >= at) run.unkept = true;
      const whole = !peer.closed && !this.#world.isBroken(peer) && this.#world.hasPower(peer);
      if (whole) run.acknowledgedAt = Math.min(run.acknowledgedAt, at);
    });
  }
}
