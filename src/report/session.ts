// A login and what keeps it alive.
//
//   POST /api/auth/login  {"username":"tenant@example.com","password":"..."}  ->  {"token":"<JWT>","refreshToken":"<JWT>"}
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
import { endOf, LONGEST_WAIT_MS, Pauses, waitBusy } from "./pause.js";

const TIMEOUT_MS = 60_000;
/** Of one request. */
const LOGIN_MS = 35_000;
const ANSWER_BYTES = 16_384;
/** A token is renewed so long before its end, or a tenth of its life if that is less. */
const MARGIN_MS = 60_000;

export interface SessionOptions {
  /** Where users log in: base URL of the platform; `/api/auth/...` is appended. */
  url: string;
  /** Both, or a `jwt`, or all three: then the JWT is used until it is refused. */
  username?: string | undefined;
  password?: string | undefined;
  /** A JWT that was got in another way, and the refresh token that came with it. With neither that nor a password it can't be renewed. */
  jwt?: string | undefined;
  refreshToken?: string | undefined;
}

/** One user's login on the platform, shared by any number of clients. */
export class Session {
  private readonly _host: Host;
  readonly #user: { readonly username: string; readonly password: string } | undefined;
  private readonly _pauses: Pauses;
  private readonly _connection: Connection;
  #token: string | undefined;
  #refreshToken: string | undefined;
  /** Of the token, by the monotonic clock; undefined if it does not state its life. */
  private _endsAt: number | undefined;
  /** The one request that is under way for whoever asks. */
  private _asking: Promise<Outcome> | undefined;

  /** Throws `BAD_OPTIONS`. Nothing is sent before a token is asked for. */
  constructor(host: Host, options: SessionOptions) {
    const { target, user } = check(options);
    this._host = host;
    this.#user = user;
    this.#token = options.jwt;
    this.#refreshToken = options.refreshToken;
    this._pauses = new Pauses(host.clock);
    this._connection = new Connection(host, target);
  }

  /** True if a token that was refused can be replaced. */
  get renewable(): boolean {
    return this.#user !== undefined || this.#refreshToken !== undefined;
  }

  /**
   * A JWT that should be good for a minute. `refused`: the one that the platform would not have; then another one, by a fresh
   * login. Rejects with ReportError `LOGIN`, `FORBIDDEN`, `REFUSED`, `BUSY`, `TIMEOUT`, `LOST`, `MALFORMED` or `STOPPED`.
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
      // What a login just brought is not judged again: it may be the same as before, or of no life at all.
      if (token !== undefined && (renewed || (token !== refused && !over))) return token;
      if (clock.now() >= end) throw new ReportError("TIMEOUT", "login: no answer within the time limit");
      if (!this.renewable && !this._asking) throw refusal("login", 401);
      // A token whose time is over is refreshed; one that was refused needs the password again, if there is one.
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
      if (outcome) await this._judge(outcome, backoff, end);
      renewed = outcome?.kind === "done";
    }
  }

  /** For good. Whoever waits gets `STOPPED`. */
  close(): void {
    this._pauses.close();
    this._connection.close();
    this.#token = undefined;
    this.#refreshToken = undefined;
  }

  /** One login or one refresh; a refresh that is refused is followed by a login. What it brought is kept. */
  private async _ask(mayRefresh: boolean): Promise<Outcome> {
    const refreshToken = this.#refreshToken;
    this.#refreshToken = undefined;
    if (mayRefresh && refreshToken !== undefined) {
      const outcome = await this._post("/api/auth/token", `{"refreshToken":${quote(refreshToken)}}`);
      if (outcome.kind !== "refused") {
        // Not refused: it is still good for the next attempt.
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
    // The next one is hours away.
    this._connection.fresh();
    if (outcome.kind !== "done" || this._pauses.closed) return outcome;
    return this._keep(outcome.body, since) ? outcome : { kind: "lost", reason: "foreign answer" };
  }

  private _keep(body: Uint8Array, since: number): boolean {
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

  /** Returns when it is time to look again; throws what can't be mended by waiting. */
  private async _judge(outcome: Outcome, backoff: Backoff, end: number): Promise<void> {
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
  if ((username === undefined) !== (password === undefined)) wrong.push("username and password go together");
  if (username === undefined && jwt === undefined) wrong.push("username and password, or a jwt, are needed");
  for (const [name, text] of [
    ["username", username],
    ["password", password],
  ])
    if (text !== undefined && (typeof text !== "string" || text === ""))
      wrong.push(`${name} is a text that is not empty`);
  if (jwt !== undefined && !isToken(jwt)) wrong.push("jwt is a text of letters, digits and . _ ~ + / = -");
  if (refreshToken !== undefined && !isToken(refreshToken)) wrong.push("refreshToken is a text like the jwt");
  if (wrong.length > 0 || !parsed.ok) throw new ReportError("BAD_OPTIONS", wrong.join("; "));
  const user = username === undefined || password === undefined ? undefined : { username, password };
  return { target: parsed.target, user };
};
