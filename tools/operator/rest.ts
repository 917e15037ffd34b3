import type { Check } from "./checks.js";
import { OperatorError, tame } from "./error.js";
import { parseUnrounded } from "./typed-json.js";

/** Of an answer's body, in bytes; what is longer is an error. */
const LARGEST = 32 * 1024 * 1024;

export interface RestOptions {
  /** Where the platform is: `https://platform.example.com`; a path before `/api` is kept. */
  url: string;
  /** For one call, in milliseconds. Default 15,000. */
  timeoutMs?: number;
  /** Of an earlier login, or an API key. */
  session?: Session | Jwt | ApiKey | undefined;
  /**
   * How long a call waits in all while the platform answers 429, in milliseconds. Default 60,000.
   */
  busyMs?: number;
  /** In place of the global one, which trusts the system's CAs. */
  fetch?: typeof fetch;
  /** Waits so many milliseconds; replaced by tests. */
  wait?: (ms: number) => Promise<unknown>;
  /** Notified of each new session: after a login, and when the platform gave a new token. */
  onSession?: (session: Session) => void;
}

export interface Call {
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent in place of a body. */
  form?: FormData;
  /** Must not show up in an error. */
  secrets?: readonly string[];
  /** In place of the client's. */
  timeoutMs?: number;
  /** Goes without the session's token. */
  open?: boolean;
}

/** What a login gave. Both are secrets: who has them is the user. */
export interface Session {
  token: string;
  refreshToken: string;
}

/** A token that cannot be refreshed. */
export interface Jwt {
  token: string;
  refreshToken?: undefined;
}

/** A key of a user, and the claims that it does not hold. */
export interface ApiKey extends Claims {
  apiKey: string;
}

/** Who a session is for. */
export interface Claims {
  /** `TENANT_ADMIN`, `CUSTOMER_USER` or `SYS_ADMIN`; undefined if the token does not say. */
  readonly authority: string | undefined;
  readonly customerId: string | undefined;
}

/** Reads the token's claims unverified, only to choose endpoints. */
function claimsOf(token: string): Claims {
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(payload), (sign) => sign.charCodeAt(0));
    const { scopes, customerId } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const [authority] = Array.isArray(scopes) ? (scopes as unknown[]) : [];
    return {
      authority: typeof authority === "string" ? authority : undefined,
      customerId: typeof customerId === "string" ? customerId : undefined,
    };
  } catch {
    return { authority: undefined, customerId: undefined };
  }
}

/** Longest single wait at a 429, in milliseconds. */
const LONGEST_WAIT = 10_000;

/** JSON over the platform's REST. Refreshes the token once at a 401, and waits at a 429. */
export class Rest {
  /** The URL without a slash at the end. */
  readonly base: string;
  readonly #timeoutMs: number;
  readonly #busyMs: number;
  #session: Session | Jwt | undefined;
  #apiKey: ApiKey | undefined;
  #refreshing: Promise<void> | undefined;
  readonly #onSession: (session: Session) => void;
  readonly #fetch: typeof fetch;
  readonly #wait: (ms: number) => Promise<unknown>;

  constructor({ url, timeoutMs = 15_000, session, onSession = () => {}, ...options }: RestOptions) {
    const { origin, pathname, protocol } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:")
      throw new TypeError("the platform's URL is neither http nor https");
    this.base = origin + pathname.replace(/\/+$/, "");
    this.#timeoutMs = timeoutMs;
    this.#busyMs = options.busyMs ?? 60_000;
    if (session && "apiKey" in session) this.#apiKey = session;
    else this.#session = session;
    this.#onSession = onSession;
    this.#fetch = options.fetch ?? ((...call) => fetch(...call));
    this.#wait = options.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** POST /api/auth/login. Throws OperatorError 401 for a wrong name or password. */
  async login(username: string, password: string): Promise<void> {
    this.#session = undefined;
    const body = { username, password };
    this.#begin(await this.#send("POST", "/api/auth/login", { body, secrets: [password], open: true }));
  }

  /** Forgets the session. */
  logout(): void {
    this.#session = undefined;
  }

  get claims(): Claims {
    return this.#apiKey ?? claimsOf(this.#session?.token ?? "");
  }

  /** POST /api/auth/token. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const refreshToken = this.#session?.refreshToken;
    if (refreshToken === undefined) throw new OperatorError(401, "the session is over");
    const call = { body: { refreshToken }, open: true };
    this.#begin(await this.#send("POST", "/api/auth/token", call));
  }

  #begin(answer: unknown): void {
    const session = sessionOf(answer);
    this.#session = session;
    this.#onSession(session);
  }

  /**
   * The answer, with lossy numbers as text. Throws OperatorError, also if it is not what it should
   * be.
   */
  async call<T>(method: string, path: string, isExpected: Check<T>, call: Call = {}): Promise<T> {
    const answer = await this.#call(method, path, call);
    if (isExpected(answer)) return answer;
    throw new OperatorError(200, `${method} ${path}: unexpected answer: ${formOf(answer)}`.slice(0, 300));
  }

  async #call(method: string, path: string, call: Call): Promise<unknown> {
    const token = this.#session?.token;
    try {
      return await this.#send(method, path, call);
    } catch (error) {
      if (!(error instanceof OperatorError) || error.status !== 401 || token === undefined) throw error;
    }
    // Another call may have refreshed it meanwhile.
    if (this.#session?.token === token) await this.refresh();
    return this.#send(method, path, call);
  }

  /** The platform did nothing for a call that it answered with 429, so any call may be repeated. */
  async #send(method: string, path: string, call: Call): Promise<unknown> {
    let left = this.#busyMs;
    for (let delay = 500; ; delay = Math.min(2 * delay, LONGEST_WAIT)) {
      try {
        return await this.#sendOnce(method, path, call);
      } catch (error) {
        if (!(error instanceof OperatorError) || error.status !== 429 || left <= 0) throw error;
      }
      // Calls that were refused together return at different times.
      const ms = Math.min(left, delay * (0.5 + Math.random()));
      left -= ms;
      await this.#wait(ms);
    }
  }

  #secrets({ secrets = [] }: Call): string[] {
    const { token = "", refreshToken = "" } = this.#session ?? {};
    return [...secrets, token, refreshToken, this.#apiKey?.apiKey ?? ""];
  }

  async #sendOnce(method: string, path: string, call: Call): Promise<unknown> {
    const headers: Record<string, string> = { accept: "application/json" };
    const authorization = this.#apiKey
      ? `ApiKey ${this.#apiKey.apiKey}`
      : this.#session && `Bearer ${this.#session.token}`;
    if (!call.open && authorization) headers["x-authorization"] = authorization;
    if (call.body !== undefined) headers["content-type"] = "application/json";
    const signal = AbortSignal.timeout(call.timeoutMs ?? this.#timeoutMs);
    // A redirect would carry the token to wherever the answer points.
    const init: RequestInit = { method, headers, signal, redirect: "manual" };
    if (call.form) init.body = call.form;
    else if (call.body !== undefined) init.body = JSON.stringify(call.body);
    const name = `${method} ${path}`;
    const url = `${this.base}${path}${query(call.query)}`;
    const { status, text } = await exchange(this.#fetch, url, init, name);
    if (status >= 200 && status < 300) return parse(text, status, name);
    const { message, errorCode } = errorBody(text);
    throw new OperatorError(status, tame(`${name}: ${status} ${message}`, this.#secrets(call)), {
      errorCode,
    });
  }
}

/** A group of calls. */
export class Calls {
  protected readonly rest: Rest;

  constructor(rest: Rest) {
    this.rest = rest;
  }
}

async function exchange(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  name: string,
): Promise<{ status: number; text: string }> {
  try {
    const response = await send(url, init);
    return { status: response.status, text: await read(response, name) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason =
      error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : cause(error);
    throw new OperatorError(0, `${name}: ${reason}`, { cause: error });
  }
}

async function read(response: Response, name: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > LARGEST)
      throw new OperatorError(response.status, `${name}: the answer is longer than ${LARGEST} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** Without values: credentials and profiles hold secrets, also another device's. */
function formOf(answer: unknown): string {
  if (Array.isArray(answer)) return `a list of ${answer.length}`;
  if (answer === undefined || answer === null) return "nothing";
  if (typeof answer !== "object") return `a ${typeof answer}`;
  return `an object of ${tame(Object.keys(answer).join(", "), []) || "no members"}`;
}

function parse(text: string, status: number, name: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseUnrounded(text);
  } catch (error) {
    const problem =
      error instanceof RangeError ? "the answer is nested too deeply" : "the answer is not JSON";
    throw new OperatorError(status, `${name}: ${problem}`, { cause: error });
  }
}

/** `{"status":404,"message":"Device not found","errorCode":32}`, or another server's text. */
function errorBody(text: string): { message: string; errorCode?: number } {
  try {
    const { message, errorCode } = (JSON.parse(text) ?? {}) as { message?: unknown; errorCode?: unknown };
    return {
      message: typeof message === "string" ? message : "",
      ...(typeof errorCode === "number" && { errorCode }),
    };
  } catch {
    return { message: text };
  }
}

function cause(error: unknown): string {
  const inner = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof inner?.code === "string" ? `no connection (${inner.code})` : "no connection";
}

function sessionOf(answer: unknown): Session {
  const { token, refreshToken, scope } = (answer ?? {}) as Record<string, unknown>;
  if (scope === "PRE_VERIFICATION_TOKEN")
    throw new OperatorError(200, "login: this user has two-factor authentication: use an API key instead");
  if (typeof token !== "string" || typeof refreshToken !== "string")
    throw new OperatorError(200, "login: the answer holds no token");
  return { token, refreshToken };
}

function query(values: Call["query"]): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(values ?? {}))
    if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
