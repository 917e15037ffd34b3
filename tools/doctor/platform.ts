// The device API as a device meets it: is it the platform, does it know the token, how long may a poll last, does a value come back.
import { bad, type Finding, good, skipped, warning } from "./finding.js";

/** The longest poll that is tried; a second more for its answer. */
const POLL_MS = 60_000;
const PATIENCE_MS = 15_000;
const SKEW_MS = 2_000;
const LAG_MS = 5_000;
const KEY = "moteDoctor";

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Of its Date header, in milliseconds since 1970. */
  readonly date: number | undefined;
  readonly tookMs: number;
}

/** Asks the device API; undefined if there was no answer. Never throws. */
export type Ask = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  patienceMs?: number,
) => Promise<Answer | undefined>;

export interface Asked {
  /** With the token. */
  readonly ask: Ask;
  /** With one that nobody has. */
  readonly askUnknown: Ask;
}

/** Stops at the first that makes the rest meaningless. */
export async function checkPlatform(
  { ask, askUnknown }: Asked,
  hasToken: boolean,
  quick: boolean,
): Promise<Finding[]> {
  const stranger = await askUnknown("GET", "attributes");
  const findings = [isPlatform(stranger)];
  if (findings[0]?.level === "bad") return findings;
  if (stranger) findings.push(clock(stranger));
  if (!hasToken) {
    findings.push(skipped("access token", "none is given: --token, or --device with a login"));
    return findings;
  }
  const token = known(await ask("GET", `attributes?clientKeys=${KEY}`));
  findings.push(token);
  if (token.level !== "good") return findings;
  findings.push(await roundTrip(ask));
  findings.push(
    quick
      ? skipped("polls", "not measured (--quick)")
      : polls(await ask("GET", `attributes/updates?timeout=${POLL_MS}`, undefined, POLL_MS + PATIENCE_MS)),
  );
  return findings;
}

/** The platform answers 401 to a token it does not know. */
export function isPlatform(answer: Answer | undefined): Finding {
  if (!answer)
    return bad(
      "platform",
      "no answer over HTTP",
      "Does a server listen there? With TLS the base URL begins with https://.",
    );
  if (answer.status === 401) return good("platform", "it speaks the device API");
  const advice =
    answer.status === 404
      ? "Is the path of the base URL right? /api/v1 is added to it, and belongs to the platform's own address."
      : "Is this the platform's address, and not that of another service or a proxy's page?";
  return bad(
    "platform",
    `an unknown token is answered ${answer.status}, where the platform answers 401`,
    advice,
  );
}

export function clock({ date, tookMs }: Answer, now = Date.now()): Finding {
  if (date === undefined)
    return warning("clock", "the server sends no Date", "Boards without SNTP can't learn the time from it.");
  // The header has whole seconds.
  const skew = date + 500 - (now - tookMs / 2);
  const seconds = (Math.abs(skew) / 1000).toFixed(0);
  if (Math.abs(skew) <= SKEW_MS) return good("clock", "this machine and the server agree");
  return warning(
    "clock",
    `the server's clock is ${seconds} s ${skew > 0 ? "ahead" : "behind"}`,
    "Let both use NTP: time stamps of devices and of the platform differ by as much.",
  );
}

export function known(answer: Answer | undefined): Finding {
  if (answer?.status === 200) return good("access token", "the platform knows it");
  if (answer?.status === 401)
    return bad(
      "access token",
      "the platform does not know it",
      "Is it this server's, of a device that still exists, and not a user's JWT?",
    );
  return bad(
    "access token",
    `asked with it, the platform answered ${answer?.status ?? "nothing"}`,
    "Look at the server's log.",
  );
}

/** A client attribute is written and read until it is there. */
async function roundTrip(ask: Ask): Promise<Finding> {
  const value = `${Math.random()}`;
  const began = performance.now();
  const written = await ask("POST", "attributes", { [KEY]: `t${value}` });
  if (written?.status !== 200)
    return bad(
      "attributes",
      `writing one was answered ${written?.status ?? "nothing"}`,
      "Is the database of the platform well?",
    );
  while (performance.now() - began < PATIENCE_MS) {
    const read = await ask("GET", `attributes?clientKeys=${KEY}`);
    const ms = Math.round(performance.now() - began);
    if (read?.text.includes(value)) {
      if (ms < LAG_MS) return good("attributes", `one is written and read back in ${ms} ms`);
      return warning(
        "attributes",
        `one is there ${ms} ms after the platform's 200`,
        "The platform's queue or rule chains are slow.",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return bad(
    "attributes",
    `one was accepted, and is not there after ${PATIENCE_MS / 1000} s`,
    "Does the device profile's rule chain save client attributes?",
  );
}

/** What ended a poll of a minute shows who is on the way. */
export function polls(answer: Answer | undefined): Finding {
  const s = Math.round((answer?.tookMs ?? 0) / 1000);
  switch (answer?.status) {
    case 408:
      return good("polls", `one of ${POLL_MS / 1000} s is let through`);
    case 200:
      return warning(
        "polls",
        `one ended after ${s} s with a change of an attribute`,
        "Run it again when nobody changes attributes.",
      );
    case 503:
      return good(
        "polls",
        `the platform ends them after ${s} s with 503; the agent finds that out by itself`,
      );
    case 504:
    case 502:
      return good(
        "polls",
        `a proxy ends them after ${s} s with ${answer.status}; the agent finds that out by itself. A longer time-out there saves requests.`,
      );
    case undefined:
      return warning(
        "polls",
        "one of a minute was cut off or never answered",
        "Something between drops quiet connections: the agent copes, at the cost of a time-out; find the proxy's or firewall's idle time-out.",
      );
    default:
      return bad(
        "polls",
        `one was answered ${answer?.status} after ${s} s`,
        "Polls must pass for RPC and shared attributes: look at what stands between.",
      );
  }
}
