import type { Device } from "../core/devices.js";
import type { Json } from "../core/json/json.js";
import { MemberError } from "../core/json/json-access.js";
import { JsonSyntaxError, parseJson } from "../core/json/json-reader.js";
import type { PlatformCore } from "../core/platform.js";
import { NumberTooLongError } from "../core/values.js";
import {
  type DeviceRequest,
  type DeviceResponse,
  errorAnswer,
  faultAnswer,
  type Headers,
  JSON_TYPE,
  response,
  splitUrl,
  TEXT_TYPE,
} from "./messages.js";

/** Time until a request without a timeout of its own ends with 408. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Settings that all requests of a platform share. */
export interface ServerRules {
  readonly core: PlatformCore;
  /** Time until an open request ends with 503, in milliseconds. */
  readonly asyncCapMs: number;
  readonly hasRuleChain: boolean;
  readonly onError: (error: unknown) => void;
}

/** Faults that change how the platform handles a request. */
export interface HandlingFaults {
  /** The platform answers 200 but stores nothing. */
  readonly isUnstored?: boolean;
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
  readonly rules: ServerRules;
  readonly core: PlatformCore;
  readonly request: DeviceRequest;
  readonly #query: URLSearchParams;
  readonly #faults: HandlingFaults;
  readonly #respond: (response: DeviceResponse) => void;
  readonly #timers: (() => void)[] = [];
  #device: Device | undefined;
  #text: string | undefined;
  /** False once it is answered, or the device hung up. */
  isOpen = true;
  /** Whether the transport still knows the session: it may outlive the answer. */
  isRegistered = false;
  /** Last segment of an RPC's path. */
  id = "";
  /** Set where the route doesn't promise JSON. */
  isPlain = false;

  /** Calls `respond` at most once. */
  constructor(
    rules: ServerRules,
    request: DeviceRequest,
    respond: (response: DeviceResponse) => void,
    faults: HandlingFaults = {},
  ) {
    this.rules = rules;
    this.core = rules.core;
    this.request = request;
    this.#query = new URLSearchParams(splitUrl(request.url)[1]);
    this.#respond = respond;
    this.#faults = faults;
  }

  /** The platform's time in milliseconds since 1970, as devices see it. */
  now(): number {
    return this.core.clock.now();
  }

  /** Only for routes with a token. */
  get device(): Device {
    if (!this.#device) throw new TypeError("no device");
    return this.#device;
  }

  set device(device: Device) {
    this.#device = device;
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
    if (this.#text !== undefined) return this.#text;
    const { headers, body } = this.request;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
    // A server rebuilds a form from its parameters, so JSON sent as a form does not survive. Some
    // clients label every body a form by default, for example curl -d.
    const isForm = headers["content-type"]?.includes("application/x-www-form-urlencoded");
    this.#text = isForm ? new URLSearchParams(text).toString() : text;
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
        this.rules.onError(error);
        this.answer(500);
      }
    }
  }

  /** Keeps what the request brought, unless a fault loses it. */
  store(keep: () => void): void {
    if (!this.#faults.isUnstored) keep();
  }

  /** No body, unless one is given with its type. */
  answer(status: number, body: Uint8Array | string = "", type?: string, headers?: Headers): void {
    this.#end(response(status, body, type, headers));
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

  /** Waits: 408 after `timeoutMs` (0: the default), 503 at the server's limit. */
  wait(timeoutMs = 0): void {
    this.isRegistered = true;
    const { device } = this;
    for (const oldest of device.open) {
      if (device.open.size < MOST_OPEN) break;
      oldest.evict();
    }
    device.open.add(this);
    const after = Math.min(timeoutMs === 0 ? REQUEST_TIMEOUT_MS : timeoutMs, LONGEST_MS);
    if (after < 0) this.evict();
    else this.#timers.push(this.core.clock.timer(after, () => this.evict()));
    this.hang();
  }

  /** No answer comes, and the device doesn't hear so before the server's limit. */
  hang(): void {
    if (!this.isOpen) return;
    const cut = (): void => this.#send(errorAnswer(503, null, this.now()));
    this.#timers.push(this.core.clock.timer(this.rules.asyncCapMs, cut));
  }

  /** The device hung up: no answer can reach it, but the session stays until its time is over. */
  abandon(): void {
    this.isOpen = false;
  }

  deviceDeleted(): void {
    if (this.isOpen) this.answer(403, "Device was deleted!", this.isPlain ? TEXT_TYPE : JSON_TYPE);
    this.#finish();
  }

  /** The transport's own time is over. */
  evict(): void {
    if (this.isOpen) this.answer(408);
    this.#finish();
  }

  #finish(): void {
    this.isRegistered = false;
    this.#device?.open.delete(this);
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  #send(answer: DeviceResponse): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#respond(answer);
  }
}
