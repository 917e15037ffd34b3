// What faults did to the devices, read from the platform's list of requests.
import type { LoggedRequest } from "../../operator/shapes.js";

/** What an effect is computed from. */
export type Logged = Omit<LoggedRequest, "body">;

/** What one fault did to one device. */
export interface Effect {
  fault: string;
  device: string;
  /** Requests that it happened to. */
  hit: number;
  /** `503 ×4, no answer ×2`, the most frequent first: as the device saw them. */
  answers: string;
  /** The longest time until the same kind of request succeeded; undefined if none has since. */
  longestMs: number | undefined;
  /** Kinds of requests that have not succeeded since they were hit. */
  open: number;
}

/** `requests`: oldest first. The faults that happened most come first. */
export function effectsOf(requests: readonly Logged[]): Effect[] {
  const pairs = new Map<string, Pick<Effect, "fault" | "device">>();
  const byDevice = new Map<string, Logged[]>();
  for (const request of requests) {
    const device = nameOf(request.device);
    const known = byDevice.get(device);
    if (known) known.push(request);
    else byDevice.set(device, [request]);
    for (const fault of request.faults ?? []) pairs.set(JSON.stringify([fault, device]), { fault, device });
  }
  return [...pairs.values()]
    .map((pair) => effectOf(pair, byDevice.get(pair.device) ?? []))
    .sort((one, other) => other.hit - one.hit || one.device.localeCompare(other.device));
}

/** Null is a device whose token is not known. */
const nameOf = (device: string | null): string => device ?? "unknown token";

function effectOf(pair: Pick<Effect, "fault" | "device">, requests: readonly Logged[]): Effect {
  const answers = new Map<string, number>();
  /** By kind of request: since when it has failed. */
  const failing = new Map<string, number>();
  let [hit, longest] = [0, -1];
  for (const request of requests) {
    const kind = kindOf(request);
    const isHit = request.faults?.includes(pair.fault) === true;
    if (isHit) {
      hit++;
      const answer = request.status === 0 ? "no answer" : String(request.status);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    const since = failing.get(kind) ?? (isHit ? request.ts : undefined);
    if (since === undefined) continue;
    if (isGood(request)) {
      longest = Math.max(longest, request.ts + request.durationMs - since);
      failing.delete(kind);
    } else failing.set(kind, since);
  }
  const counted = [...answers].sort(([, one], [, other]) => other - one);
  return {
    ...pair,
    hit,
    answers: counted.map(([answer, times]) => `${answer} ×${times}`).join(", "),
    longestMs: longest < 0 ? undefined : longest,
    open: failing.size,
  };
}

/** `POST rpc`: the number of an RPC and the query are of one request alone. */
function kindOf({ method, path }: Logged): string {
  const [rest = ""] = path.replace(/^\/api\/v1\/[^/]*\//, "").split("?");
  return `${method} ${rest.split("/", 1)[0]}`;
}

/** Whether the request succeeded. 408 ends an empty poll; a 200 made by a fault is no success. */
function isGood({ status, faults = [] }: Logged): boolean {
  const isHarmless = faults.every((name) => name === "delay" || name === "clock-skew");
  return isHarmless && ((status >= 200 && status < 300) || status === 408);
}
