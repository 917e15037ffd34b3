// The RPCs of a story, both ways, and what became of them.
import type { RpcResult } from "../../hosts/platform/core/rpc.js";
import type { Agent } from "../../src/index.js";
import type { Life } from "./device.js";
import type { Story } from "./stories.js";

const METHODS = ["echo", "echo", "echo", "slow", "fails", "missing", "big", "peek"];
const CODES = [
  "METHOD_NOT_FOUND",
  "BAD_PARAMS",
  "PARAMS_TOO_LARGE",
  "HANDLER_FAILED",
  "TIMEOUT",
  "OUTCOME_UNKNOWN",
  "ANSWER_TOO_LARGE",
];

interface Sent {
  readonly nonce: number;
  readonly method: string;
  readonly oneWay: boolean;
  /** The caller waits until the end of the story. */
  readonly patient: boolean;
  readonly results: RpcResult[];
  forgotten: boolean;
  /** Restarts of the platform before it. */
  readonly restarts: number;
}

export class Asked {
  readonly #story: Story;
  readonly sent: Sent[] = [];
  readonly runs = new Map<number, number>();
  /** Calls of this life's application that have not ended. */
  open = 0;

  constructor(story: Story) {
    this.#story = story;
  }

  handle(agent: Agent, life: Life): void {
    this.open = 0;
    const ran = ({ nonce }: { nonce: number }) => {
      this.runs.set(nonce, (this.runs.get(nonce) ?? 0) + 1);
      this.#story.note(`handler runs: ${nonce}`);
      return { nonce };
    };
    const later = (ms: number) => new Promise<void>((resolve) => life.host.clock.timer(ms, resolve));
    agent.rpc.handle("echo", ran);
    agent.rpc.handle("peek", ({ nonce }) => ({ nonce }), { once: false });
    agent.rpc.handle("slow", async (params) => {
      const answer = ran(params);
      await later(this.#story.dice.pick([100, 3000, 15_000]));
      return answer;
    });
    agent.rpc.handle("fails", (params) => {
      ran(params);
      throw new Error("no water");
    });
    agent.rpc.handle("big", (params) => ({
      ...ran(params),
      text: "z".repeat(this.#story.dice.pick([700, 9000])),
    }));
  }

  /** The operator sends one. */
  send(method = this.#story.dice.pick(METHODS), oneWay = this.#story.dice.chance(0.3)): Sent | undefined {
    const { dice, world } = this.#story;
    const { device } = world;
    if (!device) return undefined;
    const patient = !oneWay && dice.chance(0.4);
    const timeoutMs = patient ? 6 * 3_600_000 : dice.pick([3000, 10_000, 60_000]);
    const nonce = this.sent.length;
    this.#story.note(`rpc ${nonce} ${method}${oneWay ? " one-way" : ""} ${timeoutMs}`);
    const results = world.platform.rpc(device, method, { nonce }, { oneWay, timeoutMs });
    const sent = { nonce, method, oneWay, patient, results, forgotten: false, restarts: world.restarts };
    this.sent.push(sent);
    return sent;
  }

  /** The platform lost those that wait. */
  forgotten(): void {
    for (const sent of this.sent) sent.forgotten = true;
  }

  /** The application asks the platform something. */
  call(): void {
    const { agent, life, dice } = this.#story;
    if (!agent || !life?.alive) return;
    const asks = [
      () => agent.rpc.call("getTime", {}, { timeoutMs: 5000 }),
      () => agent.attributes.read({ sharedKeys: ["mode"] }),
      () => agent.claim({ secretKey: "mine" }),
      () => agent.flush(10_000),
    ];
    const often = dice.pick([1, 1, 5, 50]);
    this.#story.note(`the application asks ${often} times`);
    for (let i = 0; i < often; i++) {
      this.open++;
      const end = () => {
        if (life === this.#story.life) this.open--;
      };
      dice.pick<() => Promise<unknown>>(asks)().then(end, end);
    }
  }

  check(): void {
    const { failures } = this.#story;
    for (const [nonce, runs] of this.runs)
      if (runs > 1) failures.push(`the handler of RPC ${nonce} ran ${runs} times`);
    for (const { nonce, patient, forgotten, results, restarts } of this.sent) {
      const [result] = results;
      if (patient && !forgotten && result?.kind !== "answer")
        failures.push(`RPC ${nonce}, whose caller waits, got no answer: ${result?.kind}`);
      if (result?.kind !== "answer") continue;
      const answer = JSON.parse(result.text) as { nonce?: number; error?: { code?: string } };
      // The answer to one of before a restart goes to whoever has its id now: the platform has nothing else to tell them apart.
      const other = this.sent[answer.nonce ?? nonce];
      if (other && other.restarts < restarts) continue;
      if (answer.nonce !== nonce && !CODES.includes(answer.error?.code ?? ""))
        failures.push(`RPC ${nonce} was answered ${result.text.slice(0, 80)}`);
    }
  }
}
