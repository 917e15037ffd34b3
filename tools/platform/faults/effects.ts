import type { Random } from "../core/common/random.js";
import { answerBytes } from "../device/answer-bytes.js";
import { type DeviceResponse, response, TEXT_TYPE, type Wire } from "../device/messages.js";
import { proxyBytes } from "./proxies.js";
import type { FaultName, FaultRule } from "./shapes.js";
import type { TornSets } from "./torn.js";

/** What one fault does to one request. */
export interface Effect {
  delayMs?: number;
  skewMs?: number;
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
  readonly torn: TornSets;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Of these only one can happen to a request. */
export const ENDS: ReadonlySet<FaultName> = new Set<FaultName>([
  ...(["proxy"] as const),
  ...(["drop", "reset", "truncated", "garbage", "status", "eviction", "provisioning-failure"] as const),
]);

const readsAttributes = ({ method, path }: Occasion): boolean => method === "GET" && path === "attributes";
const readsPackage = ({ method, path }: Occasion): boolean =>
  method === "GET" && (path === "firmware" || path === "software");
/** Which requests a fault can happen to at all; any, if it isn't named. */
export const FITTING: Partial<Record<FaultName, (occasion: Occasion) => boolean>> = {
  "not-stored": ({ method, path }) => method === "POST" && (path === "telemetry" || path === "attributes"),
  "no-attributes": readsAttributes,
  "torn-firmware": readsAttributes,
  eviction: readsPackage,
  "provisioning-failure": ({ method, path }) => method === "POST" && path === "provision",
};

const PROVISIONING_FAILURE = JSON.stringify({ errorMsg: "Failed to provision device!", status: "FAILURE" });

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
  garbage: ({ rule: { bytes = 64 }, random }) =>
    onWire(() => ({ bytes: Uint8Array.from({ length: bytes }, () => random(256)), end: "close" })),
  status: ({ rule: { status = 500, body = "", at = "request" } }) => {
    const answer = response(status, body, body === "" ? undefined : TEXT_TYPE);
    return at === "request" ? { instead: answer } : { change: () => answer };
  },
  "not-stored": () => ({ isUnstored: true }),
  "no-attributes": () => ({ change: (answer) => withJson(answer, () => "{}") }),
  "torn-firmware": ({ occasion: { device = "" }, random, torn }) => ({
    change: (answer) => withJson(answer, (json) => torn.tear(device, json, random)),
  }),
  "provisioning-failure": () => ({
    instead: response(200, PROVISIONING_FAILURE, TEXT_TYPE),
  }),
  proxy: ({ rule: { by = "haproxy-503", at = "request" }, now }) => {
    const wire: Wire = { bytes: proxyBytes(by, now), end: "close" };
    const answer = { ...response(Number(by.slice(-3))), wire };
    return at === "request" ? { instead: answer } : { change: () => answer };
  },
  eviction: () => ({ instead: response(500) }),
  "clock-skew": ({ rule: { ms = 0 } }) => ({ skewMs: ms }),
};

function onWire(wire: (answer: DeviceResponse) => Wire): Effect {
  return { change: (answer) => ({ ...answer, wire: wire(answer) }) };
}

function withJson(answer: DeviceResponse, change: (json: string) => string): DeviceResponse {
  if (answer.status !== 200 || answer.wire) return answer;
  const body = Buffer.from(change(Buffer.from(answer.body).toString("utf8")));
  return { ...answer, body };
}
