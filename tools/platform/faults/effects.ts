import type { Random } from "../core/common/random.js";
import { answerBytes } from "../device/answer-bytes.js";
import { type DeviceResponse, response, TEXT_TYPE, type Wire } from "../device/messages.js";
import type { FaultName, FaultRule } from "./shapes.js";

/** What one fault does to one request. */
export interface Effect {
  delayMs?: number;
  /** The platform acts and answers as ever, but keeps nothing of it. */
  isUnstored?: true;
  /** In place of the platform: an answer, or nothing ever. */
  instead?: DeviceResponse | "silence";
  /** Made of the platform's answer. */
  change?: (answer: DeviceResponse) => DeviceResponse | "silence";
}

export interface Occasion {
  method: string;
  path: string;
  /** Undefined if the token is not known. */
  device: string | undefined;
}

interface Cause {
  readonly rule: FaultRule;
  readonly occasion: Occasion;
  readonly random: Random;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Of these only one can happen to a request. */
export const ENDS: ReadonlySet<FaultName> = new Set<FaultName>([
  ...(["drop", "reset", "truncated", "status"] as const),
]);

/** Which requests a fault can happen to at all; any, if it isn't named. */
export const FITTING: Partial<Record<FaultName, (occasion: Occasion) => boolean>> = {
  "not-stored": ({ method, path }) => method === "POST" && (path === "telemetry" || path === "attributes"),
};

export const EFFECTS: Record<FaultName, (cause: Cause) => Effect> = {
  delay: ({ rule: { ms = 0 } }) => ({ delayMs: ms }),
  drop: ({ rule: { at = "answer" } }) =>
    at === "request" ? { instead: "silence" } : { change: () => "silence" },
  reset: ({ rule: { afterBytes = 0 }, now }) =>
    onWire((answer) => ({ bytes: answerBytes(answer, now).whole.subarray(0, afterBytes), end: "reset" })),
  truncated: ({ rule: { afterBytes }, random, now }) =>
    onWire((answer) => {
      const { whole, head } = answerBytes(answer, now);
      const place = whole.length > head ? head + random(whole.length - head) : random(head);
      return { bytes: whole.subarray(0, afterBytes ?? place), end: "close" };
    }),
  status: ({ rule: { status = 500, body = "", at = "request" } }) => {
    const answer = response(status, body, body === "" ? undefined : TEXT_TYPE);
    return at === "request" ? { instead: answer } : { change: () => answer };
  },
  "not-stored": () => ({ isUnstored: true }),
};

function onWire(wire: (answer: DeviceResponse) => Wire): Effect {
  return { change: (answer) => ({ ...answer, wire: wire(answer) }) };
}
