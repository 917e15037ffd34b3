import type { Clock } from "../core/common/clock.js";
import type { Device } from "../core/devices.js";
import type { Json } from "../core/json/json.js";
import { MemberError } from "../core/json/json-access.js";
import { JsonSyntaxError, parseJson } from "../core/json/json-reader.js";
import type { PlatformCore } from "../core/platform.js";
import type { RateLimits } from "../core/rate-limits.js";
import { NumberTooLongError } from "../core/values.js";
import { errorAnswer, JSON_TYPE, TEXT_TYPE } from "./answers.js";
import { bodyText } from "./body.js";
import { type DeviceRequest, type DeviceResponse, faultAnswer, type Headers, response } from "./messages.js";

export interface ExchangeOptions {
  core: PlatformCore;
  /** When a request that is still open ends with 503, in milliseconds. */
  asyncCapMs: number;
  limits: RateLimits;
  /** When a request ends with 408 if it doesn't say, in milliseconds. */
  requestTimeoutMs: number;
  /** Whether client-side RPCs are answered. */
  hasRuleChain: boolean;
  request: DeviceRequest;
  query: URLSearchParams;
  /** How much the platform's clock is ahead of what it should be, in milliseconds. */
  skewMs: number;
  /** What the request brings is lost after its 200. */
  isUnstored: boolean;
  /** Called once at most. */
  respond: (response: DeviceResponse) => void;
  onError: (error: unknown) => void;
}

/** A body of the wrong kind; the message is the answer's text. */
export class ShapeError extends Error {
  override name = "ShapeError";
}

/** However long a poll asks for, its session ends after this. */
const LONGEST_MS = 600_000;
/** Sessions per device, those included whose device hung up; the oldest makes room. */
const MOST_OPEN = 1_000;

/** One request and its one answer. */
export class Exchange {
  readonly core: PlatformCore;
  readonly #asyncCapMs: number;
  readonly hasRuleChain: boolean;
  readonly request: DeviceRequest;
  readonly #query: URLSearchParams;
  readonly #limits: RateLimits;
  readonly #requestTimeoutMs: number;
  readonly #skewMs: number;
  readonly #isUnstored: boolean;
  readonly #respond: (response: DeviceResponse) => void;
  readonly #onError: (error: unknown) => void;
  readonly #timers: (() => void)[] = [];
  #device: Device | undefined;
  #text: string | undefined;
  #answered = false;
  /** Whether the transport still knows the session: it may outlive the answer. */
  #registered = false;

  constructor(options: ExchangeOptions) {
    this.core = options.core;
    this.#asyncCapMs = options.asyncCapMs;
    this.#limits = options.limits;
    this.hasRuleChain = options.hasRuleChain;
    this.request = options.request;
    this.#query = options.query;
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#skewMs = options.skewMs;
    this.#isUnstored = options.isUnstored;
    this.#respond = options.respond;
    this.#onError = options.onError;
  }

  get clock(): Clock {
    return this.core.clock;
  }

  /** The platform's time as it says it: milliseconds since 1970. */
  now(): number {
    return this.clock.now() + this.#skewMs;
  }

  /** Only where the route has a token. */
  get device(): Device {
    if (!this.#device) throw new TypeError("no device");
    return this.#device;
  }

  set device(device: Device) {
    this.#device = device;
  }

  /** The last part of an RPC's address. */
  id = "";

  get isOpen(): boolean {
    return !this.#answered;
  }

  get isRegistered(): boolean {
    return this.#registered;
  }

  /** The first value of a query parameter; undefined if there is none. */
  parameter(name: string): string | undefined {
    return this.#query.get(name) ?? undefined;
  }

  /** Every value of a repeated query parameter. */
  parameters(name: string): string[] {
    return this.#query.getAll(name);
  }

  /** The body as text; empty if there is none. */
  get text(): string {
    this.#text ??= bodyText(this.request);
    return this.#text;
  }

  /** The body as JSON. Throws JsonSyntaxError, which `guard` answers. */
  json(): Json {
    return parseJson(this.text);
  }

  /** Runs a handler; what it throws for a bad body becomes the answer. */
  guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (error instanceof JsonSyntaxError || error instanceof ShapeError) {
        this.answerText(500, error.message);
      } else if (error instanceof MemberError || error instanceof NumberTooLongError) {
        this.answer(500);
      } else {
        this.#onError(error);
        this.answer(500);
      }
    }
  }

  /**
   * Whether the rate limits let the device's request pass; `points` are those it brings. If not it
   * is answered: 500 without a text, or, where the server drops the session (`orHang`), nothing
   * before the server's limit.
   */
  admit(points = 0, orHang = false): boolean {
    if (this.#limits.accept(this.device, points)) return true;
    if (orHang) this.hang();
    else this.answer(500);
    return false;
  }

  /** Keeps what the request brought, unless a fault loses it. */
  store(keep: () => void): void {
    if (!this.#isUnstored) keep();
  }

  /** No body, unless one is given with its type. */
  answer(status: number, body: Uint8Array | string = "", type?: string, headers?: Headers): void {
    this.#finish();
    this.#send(response(status, body, type, headers));
  }

  /** Where the device wants nothing but JSON, in the words that it chose for it. */
  answerJson(status: number, text: string): void {
    this.answer(status, text, JSON_TYPE);
  }

  /** Text of the platform, called what the device wants to have. */
  answerText(status: number, text: string): void {
    this.answer(status, text, TEXT_TYPE);
  }

  /** An error as the platform's framework answers it. */
  answerError(status: number, message: string | null, headers: Headers = {}): void {
    this.#end(errorAnswer(status, message, this.now(), headers));
  }

  /** A fault in the platform's own code. */
  answerFault(status: number, message: string): void {
    this.#end(faultAnswer(status, message, this.now()));
  }

  #end(answer: DeviceResponse): void {
    this.#finish();
    this.#send(answer);
  }

  /**
   * Waits for an answer from elsewhere: 408 after `timeoutMs` (0: the platform's own time), 503 at
   * the server's limit.
   */
  wait(timeoutMs = 0): void {
    this.#registered = true;
    const { device } = this;
    for (const oldest of device.open) {
      if (device.open.size < MOST_OPEN) break;
      oldest.evict();
    }
    device.open.add(this);
    const after = Math.min(timeoutMs === 0 ? this.#requestTimeoutMs : timeoutMs, LONGEST_MS);
    if (after < 0) this.evict();
    else this.#timers.push(this.clock.timer(after, () => this.evict()));
    this.hang();
  }

  /** No answer comes, and the device doesn't hear so before the server's limit. */
  hang(): void {
    if (this.isOpen) this.#timers.push(this.clock.timer(this.#asyncCapMs, () => this.#cut()));
  }

  /** The device hung up: no answer can reach it, but the session stays until its time is over. */
  abandon(): void {
    this.#answered = true;
  }

  deviceDeleted(): void {
    if (this.isOpen) this.answer(403, "Device was deleted!", this.isPlain ? TEXT_TYPE : JSON_TYPE);
    this.#finish();
  }

  /** Set where the route doesn't promise JSON. */
  isPlain = false;

  /** The transport's own time is over. */
  evict(): void {
    if (this.isOpen) this.answer(408);
    this.#finish();
  }

  #cut(): void {
    if (this.isOpen) this.#send(errorAnswer(503, null, this.now()));
  }

  #finish(): void {
    this.#registered = false;
    this.#device?.open.delete(this);
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  #send(answer: DeviceResponse): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#respond(answer);
  }
}
