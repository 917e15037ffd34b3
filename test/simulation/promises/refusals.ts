// Which points may be missing because the platform refuses them: the book on what was refused, kept
// on the platform's side.
import type { SeenRequest } from "../../fakes/server.js";

const NUMBER = /"n":(\d+)/g;
/** What a probe may meet without being taken. */
const NO =
  /^(status [345]|dropped|closed|hang|half-open|garbage|headers without|captive|reset|answer|stalled|proxy)/;

/**
 * Content is to blame only if the platform takes a probe, a point of the agent's own, right after
 * it refused one point alone.
 */
export class Refusals {
  /** Points that the device may drop. */
  readonly allowed = new Set<number>();
  #refused: number | undefined;

  /** A request came and met `fault`; `refuses`: that is a refusal of its content. */
  note({ path, body }: SeenRequest, fault: string, refuses: boolean): void {
    if (!path.endsWith("telemetry")) return;
    const numbers = [...body.matchAll(NUMBER)].map(([, n]) => Number(n));
    const refused = this.#refused;
    if (numbers.length === 0) {
      if (refused !== undefined && !NO.test(fault)) this.allowed.add(refused);
      return;
    }
    // Sent before the refused point, and overtaken by it on the network.
    if (refused !== undefined && numbers.every((n) => n < refused)) return;
    this.#refused = refuses && numbers.length === 1 ? numbers[0] : undefined;
  }
}
