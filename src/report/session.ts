// A login and its renewal.
//
//   POST /api/auth/login  {"username":"tenant@example.com","password":"..."}
//                         ->  {"token":"<JWT>","refreshToken":"<JWT>"}
//   POST /api/auth/token  {"refreshToken":"<JWT>"}                            ->  the same

import { Connection, exchange } from "../http/connection.js";
import type { Outcome } from "../http/outcome.js";
import { parseTarget, type Target } from "../http/target.js";
import { Backoff } from "../platform/backoff.js";
import type { Host } from "../port.js";
import { ASKS_JSON } from "../wire/report.js";
import { isObject, parseJson } from "../wire/text/json.js";
import { quote } from "../wire/text/text.js";
import { ReportError, refusal } from "./errors.js";
import { isToken, lifeMs } from "./jwt.js";
import { endOf, LONGEST_WAIT_MS, Pauses, waitBusy } from "./pauses.js";

const TIMEOUT_MS = 60_000;
/** Time limit of one request. */
const LOGIN_MS = 35_000;
const ANSWER_BYTES = 16_384;
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
  private readonly _host: Host;
  readonly #user: { readonly username: string; readonly password: string } | undefined;
  private readonly _pauses: Pauses;
  private readonly _connection: Connection;
  #token: string | undefined;
  #refreshToken: string | undefined;
  /** Expiry of the token by the monotonic clock; undefined if its lifetime is unknown. */
  private _endsAt: number | undefined;
  /** The single login request in progress, shared by all callers. */
  private _asking: Promise<Outcome> | undefined;

  /** Throws `BAD_OPTIONS`. Nothing is sent until a token is requested. */
  constructor(host: Host, options: SessionOptions) {
    const { target, user } = check(options);
    this._host = host;
    this.#user = user;
    this.#token = options.jwt;
    this.#refreshToken = options.refreshToken;
    this._pauses = new Pauses(host.clock);
    this._connection = new Connection(host, target);
  }

  /** True if a refused token can be replaced. */
  get renewable(): boolean {
    return this.#user !== undefined || this.#refreshToken !== undefined;
  }

  /**
   * Returns a JWT that is valid for about a minute or more. `refused`: a token that the platform
   * refused; then logs in again. Rejects with ReportError `LOGIN`, `FORBIDDEN`, `REFUSED`, `BUSY`,
   * `TIMEOUT`, `LOST`, `MALFORMED` or `STOPPED`.
   */
  async token(timeoutMs = TIMEOUT_MS, refused?: string): Promise<string> {
    const { clock } = this._host;
    const end = endOf(clock, timeoutMs);
    const backoff = new Backoff(this._host, LONGEST_WAIT_MS);
    let renewed = false;
    for (;;) {
      if (this._pauses.closed) throw new ReportError("STOPPED", "login: the session is closed");
      const token = this.#token;
      const over = this._endsAt !== undefined && clock.now() >= this._endsAt;
      // Do not judge a token from a fresh login again: it may be the same as before or have no
      // lifetime.
      if (token !== undefined && (renewed || (token !== refused && !over))) return token;
      if (clock.now() >= end) throw new ReportError("TIMEOUT", "login: no answer within the time limit");
      if (!this.renewable && !this._asking) throw refusal("login", 401);
      // An expired token is refreshed. A refused one needs the password again, if there is one.
      this._asking ??= this._ask(refused === undefined || !this.#user).finally(() => {
        this._asking = undefined;
      });
      const asking = this._asking;
      let outcome: Outcome | undefined;
      await this._pauses.until(
        end - clock.now(),
        asking.then(
          (answer) => {
            outcome = answer;
          },
          () => {
            outcome = { kind: "lost", reason: "internal error" };
          },
        ),
      );
      if (outcome) await this._checkLogin(outcome, backoff, end);
      renewed = outcome?.kind === "done";
    }
  }

  /** Closes for good. Pending calls get `STOPPED`. */
  close(): void {
    this._pauses.close();
    this._connection.close();
    this.#token = undefined;
    this.#refreshToken = undefined;
  }

  /** Sends one login or refresh and stores its result. A refused refresh is followed by a login. */
  private async _ask(mayRefresh: boolean): Promise<Outcome> {
    const refreshToken = this.#refreshToken;
    this.#refreshToken = undefined;
    if (mayRefresh && refreshToken !== undefined) {
      const outcome = await this._post("/api/auth/token", `{"refreshToken":${quote(refreshToken)}}`);
      if (outcome.kind !== "refused") {
        // Not refused: the refresh token stays valid for the next attempt.
        if (outcome.kind !== "done") this.#refreshToken = refreshToken;
        return outcome;
      }
    }
    if (!this.#user) return { kind: "refused", status: 401, body: new Uint8Array(0) };
    const { username, password } = this.#user;
    return this._post("/api/auth/login", `{"username":${quote(username)},"password":${quote(password)}}`);
  }

  private async _post(path: string, text: string): Promise<Outcome> {
    const since = this._host.clock.now();
    const body = this._host.encode(text);
    const request = { path, body, deadlineMs: LOGIN_MS, limit: ANSWER_BYTES, repeatable: true };
    const headers = [ASKS_JSON];
    const outcome = await exchange(this._connection, {
      method: "POST",
      purpose: "report",
      headers,
      ...request,
    });
    // The next login is hours away, so close the connection.
    this._connection.fresh();
    if (outcome.kind !== "done" || this._pauses.closed) return outcome;
    return this._storeTokens(outcome.body, since) ? outcome : { kind: "lost", reason: "foreign answer" };
  }

  private _storeTokens(body: Uint8Array, since: number): boolean {
    const text = this._host.decode(body);
    const parsed = text === undefined ? undefined : parseJson(text);
    if (!parsed?.ok || !isObject(parsed.value)) return false;
    const { token, refreshToken } = parsed.value;
    if (!isToken(token)) return false;
    this.#token = token;
    this.#refreshToken = isToken(refreshToken) ? refreshToken : undefined;
    const life = lifeMs(this._host, token);
    this._endsAt = life === undefined ? undefined : since + life - Math.min(MARGIN_MS, life / 10);
    return true;
  }

  /** Returns when it is time to try again. Throws if waiting cannot help. */
  private async _checkLogin(outcome: Outcome, backoff: Backoff, end: number): Promise<void> {
    switch (outcome.kind) {
      case "done":
        return;
      case "refused":
        if (outcome.status !== 401 && outcome.status !== 403) throw refusal("login", outcome.status);
        if (!this.#user) throw refusal("login", outcome.status);
        throw new ReportError(
          "LOGIN",
          `login: wrong user name or password (${outcome.status})`,
          outcome.status,
        );
      case "lost":
        if (this._pauses.closed) return;
        throw new ReportError("LOST", `login: ${outcome.reason}`);
      case "busy":
        return waitBusy(this._host, this._pauses, "login", outcome, backoff, end);
    }
  }
}

const check = (
  options: SessionOptions,
): {
  target: Target;
  user: { username: string; password: string } | undefined;
} => {
  const wrong: string[] = [];
  const { url, username, password, jwt, refreshToken } = options;
  const parsed = parseTarget(url);
  if (!parsed.ok) wrong.push(`url ${parsed.reason}`);
  if ((username === undefined) !== (password === undefined))
    wrong.push("username and password must be given together");
  if (username === undefined && jwt === undefined)
    wrong.push("username and password, or a jwt, are required");
  for (const [name, text] of [
    ["username", username],
    ["password", password],
  ])
    if (text !== undefined && (typeof text !== "string" || text === ""))
      wrong.push(`${name} must be a non-empty string`);
  if (jwt !== undefined && !isToken(jwt)) wrong.push("jwt must consist of letters, digits and . _ ~ + / = -");
  if (refreshToken !== undefined && !isToken(refreshToken))
    wrong.push("refreshToken must consist of the same characters as jwt");
  if (wrong.length > 0 || !parsed.ok) throw new ReportError("BAD_OPTIONS", wrong.join("; "));
  const user = username === undefined || password === undefined ? undefined : { username, password };
  return { target: parsed.target, user };
};
