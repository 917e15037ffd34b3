// Two-way RPCs to devices of the fleet, one after the other: operator to handler to operator.
import { createHistogram } from "node:perf_hooks";
import type { Operator } from "../operator/operator.js";
import type { Fleet } from "./fleet.js";

const TIMEOUT_MS = 10_000;

export class RpcProbe {
  /** How long each took, in microseconds. */
  readonly times = createHistogram();
  failed = 0;
  readonly #operator: Operator;
  readonly #fleet: Fleet;
  readonly #ids = new Map<string, string>();

  constructor(operator: Operator, fleet: Fleet) {
    this.#operator = operator;
    this.#fleet = fleet;
  }

  /** Until `stop`, so many a second. */
  async run(perSecond: number, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const began = performance.now();
      await this.#ping();
      const rest = 1_000 / perSecond - (performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
    }
  }

  async #ping(): Promise<void> {
    const online = this.#fleet.members.filter(({ agent }) => agent.state === "online");
    const member = online[Math.floor(Math.random() * online.length)];
    if (!member) return;
    try {
      const id = this.#ids.get(member.name) ?? (await this.#operator.devices.byName(member.name))?.id.id;
      if (id === undefined) return;
      this.#ids.set(member.name, id);
      const began = performance.now();
      await this.#operator.rpc.twoWay(id, "ping", began, { timeoutMs: TIMEOUT_MS });
      this.times.record(Math.max(1, Math.round(1000 * (performance.now() - began))));
    } catch {
      this.failed++;
    }
  }
}
