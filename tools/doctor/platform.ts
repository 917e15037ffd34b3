// Checks the device API: platform, clock, access token, a client attribute and the longest poll.
import { bad, type Finding, good, skipped, warning } from "./finding.js";

/** Length of the longest poll to try. */
const POLL_MS = 60_000;
const PATIENCE_MS = 15_000;
const SKEW_MS = 2_000;
const LAG_MS = 5_000;
const KEY = "moteDoctor";

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Location header of a redirect. */
  readonly location?: string | undefined;
  /** Date header in milliseconds since 1970. */
  readonly date: number | undefined;
  readonly tookMs: number;
}

/** Calls the device API; undefined without an answer. Never throws. */
export type Ask = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  patienceMs?: number,
) => Promise<Answer | undefined>;

export interface Asked {
  /** With the token. */
  readonly ask: Ask;
  /** With an unknown token. */
  readonly askUnknown: Ask;
}

/** Yields each finding as it is known. Stops when a finding makes the rest meaningless. */
export async function* checkPlatform(
  { ask, askUnknown }: Asked,
  hasToken: boolean,
  quick: boolean,
): AsyncGenerator<Finding> {
  const unknown = await askUnknown("GET", "attributes");
  const platform = isPlatform(unknown);
  yield platform;
  if (platform.level === "bad") return;
  if (unknown) yield clock(unknown);
  if (!hasToken) return yield skipped("access token", "not given (use --token, or --device with a login)");
  const token = known(await ask("GET", `attributes?clientKeys=${KEY}`));
  yield token;
  if (token.level !== "good") return;
  yield await roundTrip(ask);
  if (quick) return yield skipped("polls", "not measured (--quick)");
  const path = `attributes/updates?timeout=${POLL_MS}`;
  yield polls(await ask("GET", path, undefined, POLL_MS + PATIENCE_MS));
}

/** The platform answers 401 to a token it does not know. */
export function isPlatform(answer: Answer | undefined): Finding {
  if (!answer)
    return bad(
      "platform",
      "no answer over HTTP",
      "Check that a server listens there. For TLS, the URL must start with https://.",
    );
  if (answer.status === 401) return good("platform", "speaks the device API");
  if (isBusy(answer)) return warning("platform", busyText(answer), BUSY_ADVICE);
  const { location } = answer;
  if (location !== undefined)
    return bad(
      "platform",
      `status ${answer.status}: redirects to ${location}`,
      "Devices follow no redirect: use the address behind it as the URL.",
    );
  const advice =
    answer.status === 404
      ? "Check the path of the URL: Mote appends /api/v1 to it."
      : "Check that the URL is the platform's, and not another service's or a proxy's.";
  return bad("platform", `status ${answer.status} for an unknown token (expected 401)`, advice);
}

export function clock({ date, tookMs }: Answer, now = Date.now()): Finding {
  if (date === undefined)
    return warning(
      "clock",
      "the server sends no Date header",
      "Boards without SNTP cannot get the time from it.",
    );
  // The header has whole seconds.
  const skew = date + 500 - (now - tookMs / 2);
  const seconds = (Math.abs(skew) / 1000).toFixed(0);
  if (Math.abs(skew) <= SKEW_MS) return good("clock", "this machine and the server agree");
  return warning(
    "clock",
    `the server's clock is ${seconds} s ${skew > 0 ? "ahead" : "behind"}`,
    "Synchronize both with NTP. Otherwise time stamps of devices and platform differ by as much.",
  );
}

/** Above a rate limit, the platform answers 429, 503, or an empty 500. */
const isBusy = ({ status, text }: Answer): boolean =>
  status === 429 || status === 503 || (status === 500 && text === "");
const busyText = ({ status }: Answer): string =>
  `not checked: the platform is busy or limits requests (${status})`;
const BUSY_ADVICE = "Run the check again later. Compare the rate limits of the tenant profile.";

export function known(answer: Answer | undefined): Finding {
  if (answer?.status === 200) return good("access token", "valid");
  if (answer && isBusy(answer)) return warning("access token", busyText(answer), BUSY_ADVICE);
  if (answer?.status === 401)
    return bad(
      "access token",
      "unknown to the platform (401)",
      "Check that it belongs to an existing device of this server, and that it is not a user's JWT.",
    );
  return bad(
    "access token",
    `unexpected answer: ${answer ? `status ${answer.status}` : "none"}`,
    "Check the server's log.",
  );
}

/** Writes a client attribute and reads until the value returns. */
async function roundTrip(ask: Ask): Promise<Finding> {
  const value = `${Math.random()}`;
  const began = performance.now();
  const written = await ask("POST", "attributes", { [KEY]: `t${value}` });
  if (written && isBusy(written)) return warning("attributes", busyText(written), BUSY_ADVICE);
  if (written?.status !== 200)
    return bad(
      "attributes",
      `cannot write one: ${written ? `status ${written.status}` : "no answer"}`,
      "Check the database of the platform.",
    );
  while (performance.now() - began < PATIENCE_MS) {
    const read = await ask("GET", `attributes?clientKeys=${KEY}`);
    const ms = Math.round(performance.now() - began);
    if (read?.text.includes(value)) {
      if (ms < LAG_MS) return good("attributes", `written and read back in ${ms} ms`);
      return warning(
        "attributes",
        `readable only ${ms} ms after the platform's 200`,
        "The platform's queue or rule chains are slow.",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return bad(
    "attributes",
    `accepted, but not readable after ${PATIENCE_MS / 1000} s`,
    "Check that the device profile's rule chain saves client attributes.",
  );
}

/** How a poll of a minute ends shows which proxies are on the way. */
export function polls(answer: Answer | undefined): Finding {
  const s = Math.round((answer?.tookMs ?? 0) / 1000);
  switch (answer?.status) {
    case 429:
      return warning("polls", busyText(answer), BUSY_ADVICE);
    case 408:
      return good("polls", `${POLL_MS / 1000} s polls work`);
    case 200:
      return warning(
        "polls",
        `a poll ended after ${s} s because an attribute changed`,
        "Run the check again while no attribute changes.",
      );
    case 503:
      return good("polls", `the platform ends them after ${s} s with 503; the agent adapts`);
    case 504:
    case 502:
      return good(
        "polls",
        `a proxy ends them after ${s} s with ${answer.status}; the agent adapts. A longer time-out saves requests.`,
      );
    case undefined:
      return warning(
        "polls",
        "a poll of a minute was cut off or never answered",
        "A proxy or firewall drops idle connections. The agent adapts after a time-out; raise the idle time-out there.",
      );
    default:
      return bad(
        "polls",
        `status ${answer?.status} after ${s} s`,
        "RPCs and shared attributes need polls. Check proxies on the way.",
      );
  }
}
