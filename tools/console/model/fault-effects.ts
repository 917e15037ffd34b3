// What faults did to the devices, read from the platform's list of requests.

/** A device's request, as the platform logs it. */
export interface Logged {
  ts: number;
  method: string;
  path: string;
  device: string | null;
  status: number;
  durationMs: number;
  faults?: readonly string[];
}

/** What faults did to one device. */
export interface Effect {
  device: string;
  /** Requests that a fault happened to. */
  hit: number;
  /** `503 ×4, no answer ×2`, the most frequent first: as the device saw them. */
  answers: string;
  /** The longest time until the same kind of request succeeded; undefined if none has since. */
  longestMs: number | undefined;
  /** Kinds of requests that have not succeeded since they were hit. */
  open: number;
}

/** Oldest first. */
export function effectsOf(requests: readonly Logged[]): Effect[] {
  const devices = new Map<string, Logged[]>();
  for (const request of requests) {
    const name = request.device ?? "unknown token";
    devices.set(name, [...(devices.get(name) ?? []), request]);
  }
  return [...devices]
    .map(([device, all]) => effectOn(device, all))
    .filter(({ hit }) => hit > 0)
    .sort((one, other) => other.hit - one.hit || one.device.localeCompare(other.device));
}

function effectOn(device: string, requests: readonly Logged[]): Effect {
  const answers = new Map<string, number>();
  /** By kind of request: since when it has failed. */
  const failing = new Map<string, number>();
  let [hit, longest] = [0, -1];
  for (const request of requests) {
    const kind = kindOf(request);
    if (request.faults) {
      hit++;
      const answer = request.status === 0 ? "no answer" : String(request.status);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    const since = failing.get(kind);
    if (!isGood(request)) {
      if (request.faults && since === undefined) failing.set(kind, request.ts);
      continue;
    }
    if (since === undefined) continue;
    longest = Math.max(longest, request.ts + request.durationMs - since);
    failing.delete(kind);
  }
  const counted = [...answers].sort(([, one], [, other]) => other - one);
  return {
    device,
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

/** Whether the device got what it asked for. 408 is how a poll ends that brought nothing; a fault's own 200 is no success. */
function isGood({ status, faults = [] }: Logged): boolean {
  const isHarmless = faults.every((name) => name === "delay" || name === "clock-skew");
  return isHarmless && ((status >= 200 && status < 300) || status === 408);
}
