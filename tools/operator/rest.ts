import { OperatorError, tame } from "./error.js";
import type { FileForm } from "./multipart.js";
import { parseUnrounded } from "./typed-json.js";

/** Of an answer's body, in bytes; what is longer is an error. */
const LARGEST = 32 * 1024 * 1024;

export interface RestOptions {
  /** Where the platform is: `https://platform.example.com`; a path before `/api` is kept. */
  url: string;
  /** For one call, in milliseconds. Default 15,000. */
  timeoutMs?: number;
  /** Of an earlier login. */
  session?: Session | undefined;
  /** Notified of each new session: after a login, and when the platform gave a new token. */
  onSession?: (session: Session) => void;
}

export interface Call {
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent in place of a body; made again for each attempt. */
  form?: () => FileForm;
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

/** JSON over the platform's REST, with the session's token; refreshes it once at a 401. */
export class Rest {
  /** The URL without a slash at the end. */
  readonly base: string;
  readonly #timeoutMs: number;
  #session: Session | undefined;
  #refreshing: Promise<void> | undefined;
  readonly #onSession: (session: Session) => void;

  constructor({ url, timeoutMs = 15_000, session, onSession = () => {} }: RestOptions) {
    const { origin, pathname, protocol } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:")
      throw new TypeError("the platform's URL is neither http nor https");
    this.base = origin + pathname.replace(/\/+$/, "");
    this.#timeoutMs = timeoutMs;
    this.#session = session;
    this.#onSession = onSession;
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
    return claimsOf(this.#session?.token ?? "");
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
    if (refreshToken === undefined) throw new OperatorError(401, "not logged in");
    const call = { body: { refreshToken }, open: true };
    this.#begin(await this.#send("POST", "/api/auth/token", call));
  }

  #begin(answer: unknown): void {
    this.#session = sessionOf(answer);
    this.#onSession(this.#session);
  }

  /** The answer's JSON, with lossy numbers as text. Throws OperatorError. */
  async call(method: string, path: string, call: Call = {}): Promise<unknown> {
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

  async #send(method: string, path: string, call: Call): Promise<unknown> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (!call.open && this.#session) headers["x-authorization"] = `Bearer ${this.#session.token}`;
    const form = call.form?.();
    if (form) headers["content-type"] = form.type;
    else if (call.body !== undefined) headers["content-type"] = "application/json";
    // "duplex" is what fetch wants to see beside a stream.
    const init: RequestInit & { duplex: "half" } = {
      duplex: "half",
      method,
      headers,
      signal: AbortSignal.timeout(call.timeoutMs ?? this.#timeoutMs),
    };
    // A redirect would carry the token to wherever the answer points.
    init.redirect = "manual";
    if (form) init.body = form.body;
    else if (call.body !== undefined) init.body = JSON.stringify(call.body);
    const name = `${method} ${path}`;
    const secrets = [...(call.secrets ?? []), this.#session?.token ?? "", this.#session?.refreshToken ?? ""];
    const { status, text } = await exchange(`${this.base}${path}${query(call.query)}`, init, name);
    if (status >= 200 && status < 300) return parse(text, status, name);
    const { message, errorCode } = errorBody(text);
    throw new OperatorError(status, tame(`${name}: ${status} ${message}`, secrets), { errorCode });
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
  url: string,
  init: RequestInit,
  name: string,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, init);
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

function parse(text: string, status: number, name: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseUnrounded(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new OperatorError(status, `${name}: the answer is not JSON`);
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
  const { token, refreshToken } = (answer ?? {}) as Record<string, unknown>;
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
