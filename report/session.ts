// A login and its renewal.
//
//   POST /api/auth/login  {"username":"tenant@example.com","password":"..."}
//                         ->  {"token":"<JWT>","refreshToken":"<JWT>"}
//   POST /api/auth/token  {"refreshToken":"<JWT>"}                            ->  the same

import { baseUrl } from "./base-url.js";
import { type Call, Calls, type Clock, discard, systemClock } from "./call.js";
import { ReportError, refusal } from "./errors.js";

const TIMEOUT_MS = 60_000;
const ANSWER_BYTES = 65_536;
/** Time before expiry at which a token is renewed; at most a tenth of its lifetime. */
const MARGIN_MS = 60_000;

export interface SessionOptions {
  /** Base URL of the platform; `/api/auth/...` is appended. */
  url: string;
  /** User name and password, a `jwt`, or all three: then the JWT is used until it is refused. */
  username?: string | undefined;
  password?: string | undefined;
  /**
   * An existing JWT and its refresh token. Without a refresh token or password it cannot be
   * renewed.
   */
  jwt?: string | undefined;
  refreshToken?: string | undefined;
}

/** The login of one user, shared by any number of clients. */
export class Session {
  readonly #url: string;
  readonly #user: { readonly username: string; readonly password: string } | undefined;
  readonly #fetch: typeof fetch;
  readonly #clock: Clock;
  readonly #calls: Calls;
  #token: string | undefined;
  #refreshToken: string | undefined;
  /** Expiry of the token by the monotonic clock; undefined if its lifetime is unknown. */
  #endsAt: number | undefined;
  /** The single login in progress. */
  #asking: Promise<string> | undefined;

  /** Throws `BAD_OPTIONS`. Nothing is sent until a token is requested. `io`: replaced by tests. */
  constructor(options: SessionOptions, io: { fetch?: typeof fetch; clock?: Clock } = {}) {
    const { url, user } = check(options);
    this.#url = url;
    this.#user = user;
    this.#token = options.jwt;
    this.#refreshToken = options.refreshToken;
    this.#fetch = io.fetch ?? fetch;
    this.#clock = io.clock ?? systemClock;
    this.#calls = new Calls(this.#clock, "login");
  }

  /** True if a refused token can be replaced. */
  get renewable(): boolean {
    return this.#user !== undefined || this.#refreshToken !== undefined;
  }

  /**
   * Returns a JWT that is valid for about a minute or more. `refused`: a token that the platform
   * refused; then logs in again. Rejects with ReportError `LOGIN`, `FORBIDDEN`, `REFUSED`, `BUSY`,
   * `TIMEOUT`, `LOST`, `MALFORMED` or `STOPPED`, or with the reason of `signal`.
   */
  async token(timeoutMs = TIMEOUT_MS, refused?: string, signal?: AbortSignal): Promise<string> {
    return this.#calls.run(
      timeoutMs,
      async (call) => {
        // A login in progress serves all callers, unless it ended by its own caller's time limit.
        while (this.#asking) {
          const token = await call.until(this.#asking.catch(onlyForAll));
          if (token !== undefined) return token;
        }
        const token = this.#token;
        const isOver = this.#endsAt !== undefined && this.#clock.now() >= this.#endsAt;
        if (token !== undefined && token !== refused && !isOver) return token;
        // An expired token is refreshed. A refused one needs the password again, if there is one.
        const asking = this.#ask(call, refused === undefined || !this.#user);
        this.#asking = asking;
        try {
          return await asking;
        } finally {
          this.#asking = undefined;
        }
      },
      signal,
    );
  }

  /** Closes for good. Pending calls get `STOPPED`. */
  close(): void {
    this.#calls.close();
    this.#token = undefined;
    this.#refreshToken = undefined;
  }

  /** Logs in or refreshes, and stores the result. A refused refresh is followed by a login. */
  async #ask(call: Call, mayRefresh: boolean): Promise<string> {
    const refreshToken = this.#refreshToken;
    if (mayRefresh && refreshToken !== undefined) {
      const token = await this.#post(call, "/api/auth/token", { refreshToken });
      if (token !== undefined) return token;
      this.#refreshToken = undefined;
    }
    if (!this.#user) throw refusal("login", 401);
    const token = await this.#post(call, "/api/auth/login", this.#user);
    if (token === undefined) throw new ReportError("LOGIN", "login: wrong user name or password (401)", 401);
    return token;
  }

  /** The new token; undefined if the platform refused with 401 or 403. */
  async #post(call: Call, path: string, body: object): Promise<string | undefined> {
    const since = this.#clock.now();
    const response = await call.post(this.#fetch, `${this.#url}${path}`, JSON.stringify(body));
    const { status } = response;
    if (status === 200) return this.#storeTokens(await textOf(call, response), since);
    await discard(response);
    if (status === 401 || status === 403) return undefined;
    throw refusal("login", status);
  }

  #storeTokens(text: string, since: number): string {
    const { token, refreshToken } = (parse(text) ?? {}) as Record<string, unknown>;
    if (!isToken(token)) throw new ReportError("MALFORMED", "login: the answer contains no token");
    this.#token = token;
    this.#refreshToken = isToken(refreshToken) ? refreshToken : undefined;
    const life = lifeMs(token);
    this.#endsAt = life === undefined ? undefined : since + life - Math.min(MARGIN_MS, life / 10);
    return token;
  }
}

/** Throws what ends the calls of all callers alike. */
function onlyForAll(error: unknown): undefined {
  const isOwn = !(error instanceof ReportError) || ["TIMEOUT", "BUSY", "STOPPED"].includes(error.code);
  if (!isOwn) throw error;
}

/** The text of an answer, "" beyond the limit. */
async function textOf(call: Call, { body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  const reader = body?.getReader();
  for (let size = 0; reader; ) {
    const piece = await call.piece(reader);
    if (!piece) break;
    pieces.push(piece);
    size += piece.length;
    if (size <= ANSWER_BYTES) continue;
    await reader.cancel().catch(() => {});
    return "";
  }
  return Buffer.concat(pieces).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for a text that can be sent as a token, in a header and in a query. */
function isToken(token: unknown): token is string {
  return typeof token === "string" && /^[\w~+/=.-]{1,4096}$/.test(token);
}

/** Lifetime of the token in ms, `exp` - `iat`; undefined if the token does not state it. */
function lifeMs(token: string): number | undefined {
  const claims = parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { exp, iat } = (claims ?? {}) as Record<string, unknown>;
  if (typeof exp !== "number" || typeof iat !== "number") return undefined;
  const life = (exp - iat) * 1000;
  return life > 0 && Number.isFinite(life) ? life : undefined;
}

function check(options: SessionOptions): {
  url: string;
  user: { username: string; password: string } | undefined;
} {
  const wrong: string[] = [];
  const { username, password, jwt, refreshToken } = options;
  const url = baseUrl(options.url, wrong);
  if ((username === undefined) !== (password === undefined))
    wrong.push("username and password must be given together");
  if (username === undefined && jwt === undefined)
    wrong.push("username and password, or a jwt, are required");
  for (const [name, text] of Object.entries({ username, password }))
    if (text !== undefined && (typeof text !== "string" || text === ""))
      wrong.push(`${name} must be a non-empty string`);
  if (jwt !== undefined && !isToken(jwt)) wrong.push("jwt must consist of letters, digits and . _ ~ + / = -");
  if (refreshToken !== undefined && !isToken(refreshToken))
    wrong.push("refreshToken must consist of the same characters as jwt");
  if (wrong.length > 0) throw new ReportError("BAD_OPTIONS", wrong.join("; "));
  const user = username === undefined || password === undefined ? undefined : { username, password };
  return { url, user };
}
