// The RPCs of a run, both ways, and what became of them.

import type { Agent } from "../../../src/index.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import { SECRET } from "../../fakes/platform.js";
import type { PowerCycle } from "../device.js";
import type { SimulatedRun } from "../simulated-run.js";
import { type Call, HandedOut } from "./handed-out.js";

/**
 * With the codes of errors that it may be answered with; `echo` and `slow` also with their result.
 */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  echo: [],
  slow: ["TIMEOUT"],
  fails: ["HANDLER_FAILED"],
  missing: ["METHOD_NOT_FOUND"],
  big: ["ANSWER_TOO_LARGE"],
  peek: [],
  broken: ["BAD_PARAMS"],
  heavy: ["PARAMS_TOO_LARGE"],
  // The same call again and again: only a platform's restart can give it the same id.
  toggle: [],
};
const RESULTLESS = ["fails", "missing", "broken", "heavy"];
const NAMES = [...Object.keys(METHODS), "echo", "echo", "slow", "toggle", "toggle", "toggle"];
/** An answer is replaced after so many losses. */
const LOSSES = 4;
/** A call of the application ends by its deadline, to the tick. */
const TICK_MS = 1;

interface Sent {
  readonly nonce: number;
  readonly method: string;
  readonly oneWay: boolean;
  /** The caller waits until the end of the run. */
  readonly patient: boolean;
  readonly results: RpcResult[];
  answeredAt: number;
  forgotten: boolean;
  readonly call: Call;
}

export class RpcCalls {
  readonly #run: SimulatedRun;
  readonly sent: Sent[] = [];
  readonly handedOut: HandedOut;
  /** Of the RPC whose handler runs next. */
  #id = -1;
  /** Calls of this start's application that have not ended. */
  open = 0;

  constructor(run: SimulatedRun) {
    this.#run = run;
    this.handedOut = new HandedOut(run.world, (what) => run.fail(what), run.body);
  }

  handle(agent: Agent, powerCycle: PowerCycle): void {
    this.open = 0;
    agent.on("rpc", ({ stage, id }) => {
      if (stage === "received") this.#id = id;
    });
    const ran = (params: { nonce: number }) => {
      const { nonce } = params;
      const run = this.handedOut.runs.length;
      this.handedOut.ran(this.#id, JSON.stringify(params));
      this.#run.note(`handler runs: ${nonce}`);
      return { nonce, run };
    };
    const later = (ms: number) => new Promise<void>((resolve) => powerCycle.host.clock.timer(ms, resolve));
    agent.rpc.handle("echo", ran);
    agent.rpc.handle("toggle", ran);
    agent.rpc.handle<{ nonce: number }>("peek", ({ nonce }) => ({ nonce }), { once: false });
    agent.rpc.handle<{ nonce: number }>("slow", async (params) => {
      const answer = ran(params);
      await later(this.#run.dice.pick([100, 3000, 15_000]));
      return answer;
    });
    agent.rpc.handle<{ nonce: number }>("fails", (params) => {
      ran(params);
      const { token = SECRET } = this.#run.options;
      throw new Error(`no water, says ${JSON.stringify({ token })}`);
    });
    agent.rpc.handle<{ nonce: number }>("big", (params) => ({
      ...ran(params),
      text: "z".repeat(this.#run.dice.pick([700, 9000])),
    }));
  }

  /** The operator sends one. */
  send(
    method = this.#run.dice.pick(NAMES),
    oneWay = this.#run.dice.chance(0.3),
    waitsMs = this.#run.dice.pick([3000, 10_000, 60_000]),
  ): Sent | undefined {
    const { dice, world } = this.#run;
    const { device } = world;
    if (!device) return undefined;
    const patient = !oneWay && dice.chance(0.4);
    const timeoutMs = patient ? 72 * 3_600_000 : waitsMs;
    const nonce = this.sent.length;
    const params = paramsOf(method, nonce);
    const call = this.handedOut.send(nonce, params);
    this.#run.note(`rpc ${nonce} ${method}${oneWay ? " one-way" : ""} ${timeoutMs}`);
    const results: RpcResult[] = [];
    // Known before it is handed out, which may be at once.
    const sent = { nonce, method, oneWay, patient, results, answeredAt: 0, forgotten: false, call };
    this.sent.push(sent);
    const id = device.rpc.send({
      method: method === "broken" || method === "heavy" ? "echo" : method,
      params,
      oneWay,
      expiresAt: (world.clock.wall() ?? 0) + timeoutMs,
      result: (learnt) => {
        results.push(learnt);
        sent.answeredAt = world.clock.now();
      },
    });
    if (id !== call.id) throw new Error(`RPC ${id} was to be ${call.id}`);
    return sent;
  }

  /** The platform lost those that wait. */
  forgotten(): void {
    for (const sent of this.sent) sent.forgotten = true;
  }

  /** The application asks the platform something. */
  call(): void {
    const { agent, powerCycle, dice } = this.#run;
    if (!agent || !powerCycle?.on) return;
    const asks: readonly [number, () => Promise<unknown>][] = [
      [5000, () => agent.rpc.call("getTime", {}, { timeoutMs: 5000 })],
      [20_000, () => agent.attributes.read({ sharedKeys: ["mode"], timeoutMs: 20_000 })],
      [30_000, () => agent.claim({ secretKey: "mine" })],
      [10_000, () => agent.flush({ timeoutMs: 10_000 })],
    ];
    const often = dice.pick([1, 1, 5, 50]);
    this.#run.note(`the application asks ${often} times`);
    for (let i = 0; i < often; i++) this.#ask(powerCycle, ...dice.pick(asks));
  }

  #ask(powerCycle: PowerCycle, deadlineMs: number, ask: () => Promise<unknown>): void {
    const { clock } = this.#run.world;
    const end = clock.now() + deadlineMs + TICK_MS;
    this.open++;
    const ended = (error?: unknown) => {
      if (powerCycle !== this.#run.powerCycle || !powerCycle.on) return;
      this.open--;
      if (error instanceof Error) this.#run.texts.push(`${error.stack}`);
      if (clock.now() > end)
        this.#run.fail(`a call with ${deadlineMs} ms ended ${clock.now() - end + TICK_MS} ms too late`);
    };
    ask().then(() => ended(), ended);
  }

  /** Callers that wait, and will get their answer. */
  get waiting(): Sent[] {
    return this.sent.filter(
      ({ patient, forgotten, results }) => patient && !forgotten && results.length === 0,
    );
  }

  check(): void {
    const run = this.#run;
    for (const sent of this.sent) {
      const { nonce, patient, forgotten, results } = sent;
      const [result] = results;
      if (results.length > 1) run.fail(`the caller of RPC ${nonce} learnt ${results.length} ends`);
      if (patient && !forgotten && result?.kind !== "answer")
        run.fail(`RPC ${nonce}, whose caller waits, got no answer: ${result?.kind}`);
      if (result?.kind === "answer" && !this.#fits(sent, result.text))
        run.fail(`RPC ${nonce} ${sent.method} was answered ${result.text.slice(0, 80)}`);
    }
  }

  #fits({ nonce, method, call, answeredAt }: Sent, text: string): boolean {
    const { handedOut } = this;
    const answer = JSON.parse(text) as { nonce?: number; run?: number; error?: { code?: string } };
    const code = answer.error?.code;
    if (code === undefined) {
      const own = method === "toggle" ? undefined : answer.nonce === nonce;
      const run = handedOut.runs[answer.run ?? -1];
      const since = call.handedOutAt ?? Number.POSITIVE_INFINITY;
      const right = method === "toggle" ? run?.content === call.content && run.at >= since : own;
      return (right && !RESULTLESS.includes(method)) || this.#excused(call, answer.run);
    }
    // An error answer does not say to whom it was given.
    const codes = call.restarts > 0 ? Object.values(METHODS).flat() : METHODS[method];
    return codes?.includes(code) || this.#excuses(call, answeredAt).includes(code);
  }

  #excused(call: Call, run: number | undefined): boolean {
    const excuse = this.handedOut.excuse(call, this.handedOut.runs[run ?? -1]);
    if (excuse !== undefined) this.#run.world.count(excuse);
    return excuse !== undefined;
  }

  /** Codes that any RPC may get after what happened in this run. */
  #excuses(call: Call, answeredAt: number): string[] {
    const { world } = this.#run;
    const { applied } = world;
    const codes: string[] = [];
    if (world.powerCycles > 1 || this.handedOut.wasSame(call)) codes.push("OUTCOME_UNKNOWN");
    if (applied.has("store fails")) codes.push("HANDLER_FAILED");
    const harm = world.harmTo(call.id, call.handedOutAt ?? answeredAt, answeredAt);
    if (harm.includes("answer: status 413") || harm.length >= LOSSES) codes.push("ANSWER_TOO_LARGE");
    // The platform takes the answer to what it never asked for its own RPC of that id.
    if (applied.has("JSON of depth 10,000")) codes.push("PARAMS_TOO_LARGE", "BAD_PARAMS");
    if (applied.has("length too short")) codes.push("BAD_PARAMS");
    return codes;
  }
}

function paramsOf(method: string, nonce: number): string {
  if (method === "toggle") return `{"toggle":true}`;
  if (method === "broken") return `{"nonce":${nonce},bad words}`;
  return JSON.stringify(method === "heavy" ? { nonce, text: "w".repeat(70_000) } : { nonce });
}
