// Which points may be missing because the platform refuses them: the book on what was refused, kept on the platform's side.
import type { SeenRequest } from "../fakes/server.js";

const NUMBER = /"n":(\d+)/g;
const LOOK = /attributes(\?|$)/;
/** What a look at the attributes may meet without being a "yes" to the token. */
const NO =
  /^(status [345]|dropped|closed|hang|half-open|garbage|headers without|captive|reset|answer|stalled)/;

/** Content is refused only if the platform takes the token: a refusal of one point alone, and then a look that is answered 200. */
export class Refusals {
  /** Points that the device may drop. */
  readonly allowed = new Set<number>();
  #refused: number | undefined;

  /** A request came and met `weather`; `refuses`: that is a refusal of its content. */
  note({ path, body }: SeenRequest, weather: string, refuses: boolean): void {
    if (path.endsWith("telemetry")) {
      const numbers = [...body.matchAll(NUMBER)];
      this.#refused = refuses && numbers.length === 1 ? Number(numbers[0]?.[1]) : undefined;
    } else if (LOOK.test(path) && this.#refused !== undefined && !NO.test(weather))
      this.allowed.add(this.#refused);
  }
}
