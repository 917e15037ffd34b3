import type { Socket } from "node:net";
import { type DeviceRequest, type DeviceResponse, lateError, VARY, type Wire } from "../device/messages.js";
import { ChunkError, ChunkReader } from "./chunks.js";
import { blankBefore, readHead } from "./head.js";
import { page } from "./pages.js";
import { type Prepared, prepare, type RefusedHead } from "./prepared.js";
import { type Asked, write } from "./writer.js";

/** What a connection is served by. */
export interface Service {
  /** What refuses a request before its body is looked at. */
  refuse(request: Omit<DeviceRequest, "body">): DeviceResponse | undefined;
  /** Whether it is for the device API; the others go to the operator's. */
  serves(url: string): boolean;
  /** Calls `respond` once at most. The result is called when the device hung up before. */
  handle(request: DeviceRequest, respond: (answer: DeviceResponse) => void): () => void;
  /** The operator's API: the request's own bytes and body go into `Passed`; `done` tells whether the connection stays. */
  pass(socket: Socket, request: Prepared, done: (stays: boolean) => void): Passed;
  /** Milliseconds since 1970. */
  now(): number;
}

/** The body of a request on its way to the operator's API. */
export interface Passed {
  body(piece: Uint8Array): void;
  end(): void;
  abandon(): void;
}

export interface Limits {
  /** When a connection on which nothing goes on is closed, in milliseconds. */
  readonly idleMs: number;
  readonly requests: number;
}

/** A body without a length is not limited by the platform; here it ends at this. */
const LARGEST = 64 * 1024 * 1024;
/** Of all bodies that are on their way together. */
const LARGEST_TOGETHER = 256 * 1024 * 1024;
/** What may have come behind the request that is being answered. */
const MOST_BEHIND = 65_536;
/** How long what nobody wants is read on, so that the answer arrives before the connection is cut. */
const SWALLOW_MS = 2_000;
/** Of a body that nobody wants, this much is read. */
const SWALLOWED = 2 * 1024 * 1024;
/** Between the last byte and a reset, which may overtake it. */
const RESET_MS = 20;
const NOTHING = new Uint8Array(0);
const CONTINUE = "HTTP/1.1 100 \r\n\r\n";

let together = 0;

type State = "head" | "body" | "answer" | "swallow" | "over";

/** One connection: its requests one after the other. */
export class Connection {
  readonly #socket: Socket;
  readonly #service: Service;
  readonly #limits: Limits;
  readonly #onOver: () => void;
  #state: State = "head";
  #waiting: Uint8Array = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #requests = 0;
  #request: Prepared | undefined;
  #body: Uint8Array[] = [];
  #bodySize = 0;
  #left = 0;
  #swallowed = 0;
  #chunks: ChunkReader | undefined;
  #passed: Passed | undefined;
  #abandon: (() => void) | undefined;
  #draining = false;

  constructor(socket: Socket, service: Service, limits: Limits, onOver: () => void) {
    this.#socket = socket;
    this.#service = service;
    this.#limits = limits;
    this.#onOver = onOver;
    socket.setNoDelay(true);
    socket.on("data", (piece: Uint8Array) => this.#came(piece));
    socket.on("end", () => this.#hungUp());
    socket.on("error", () => {});
    socket.on("close", () => this.#gone());
    this.#arm();
  }

  /** Ends when what goes on has been answered. */
  drain(): void {
    this.#draining = true;
    if (this.#state === "head" && this.#waiting.length === 0) this.#close();
  }

  /** Ends now. */
  destroy(): void {
    this.#socket.destroy();
  }

  #came(piece: Uint8Array): void {
    if (this.#state === "over") return;
    if (this.#state === "swallow") {
      this.#swallowed -= piece.length;
      if (this.#swallowed <= 0) this.#close();
      return;
    }
    this.#waiting = this.#waiting.length === 0 ? piece : Buffer.concat([this.#waiting, piece]);
    if (this.#state === "answer") {
      if (this.#waiting.length > MOST_BEHIND) this.#socket.pause();
      return;
    }
    this.#arm();
    this.#advance();
  }

  #advance(): void {
    while (this.#state === "head" || (this.#state === "body" && this.#waiting.length > 0)) {
      const before = this.#waiting.length;
      if (this.#state === "head") this.#readHead();
      else this.#readBody();
      if (this.#state === "head" && this.#waiting.length === before) return;
      if (this.#state === "body" && this.#waiting.length === before && before > 0) return;
    }
  }

  #readHead(): void {
    const blank = blankBefore(this.#waiting);
    if (blank > 0) this.#waiting = this.#waiting.subarray(blank);
    if (this.#waiting.length === 0) return;
    const head = readHead(this.#waiting);
    if (head === "more") return;
    if (head === "bad") {
      this.#refuse({ status: 400, announced: true, version: "1.1" }, "GET");
      return;
    }
    this.#waiting = this.#waiting.subarray(head.length);
    const request = prepare(head);
    if ("status" in request) this.#refuse(request, head.method);
    else this.#begin(request);
  }

  #refuse({ status, announced, version }: RefusedHead, method: string): void {
    const { whole } = write(page(status), this.#service.now(), {
      method,
      version,
      keepAlive: !announced,
      asksToKeep: false,
    });
    this.#socket.write(whole);
    this.#close();
  }

  #begin(request: Prepared): void {
    this.#requests++;
    const isLast = this.#requests >= this.#limits.requests || this.#draining;
    this.#request = isLast ? { ...request, keepAlive: false } : request;
    const refused = this.#service.refuse(request);
    if (refused) {
      this.#state = "answer";
      this.#send(refused, true);
      return;
    }
    if (!this.#service.serves(request.url))
      this.#passed = this.#service.pass(this.#socket, this.#request, (stays) => this.#answered(stays));
    this.#state = "body";
    const { body } = request;
    this.#left = body.kind === "length" ? body.length : 0;
    this.#chunks = body.kind === "chunked" ? new ChunkReader() : undefined;
    if (request.expects) this.#socket.write(CONTINUE);
    if (!this.#chunks && this.#left === 0) this.#bodyDone();
  }

  #readBody(): void {
    let taken: number;
    if (this.#chunks) {
      try {
        taken = this.#chunks.take(this.#waiting, (data) => this.#data(data));
      } catch (error) {
        if (!(error instanceof ChunkError)) throw error;
        this.#fail(400, `BadRequestException: ${error.message}`);
        return;
      }
    } else {
      taken = Math.min(this.#left, this.#waiting.length);
      this.#left -= taken;
      this.#data(this.#waiting.subarray(0, taken));
    }
    if (this.#state !== "body") return;
    this.#waiting = this.#waiting.subarray(taken);
    if (this.#chunks ? this.#chunks.isDone : this.#left === 0) this.#bodyDone();
  }

  #data(piece: Uint8Array): void {
    if (this.#passed) {
      this.#passed.body(piece);
      return;
    }
    this.#bodySize += piece.length;
    together += piece.length;
    if (this.#bodySize > LARGEST || together > LARGEST_TOGETHER) this.#socket.destroy();
    else this.#body.push(piece);
  }

  #bodyDone(): void {
    this.#state = "answer";
    this.#disarm();
    if (this.#passed) {
      this.#passed.end();
      return;
    }
    const { method, url, headers } = this.#request as Prepared;
    const [only = NOTHING] = this.#body;
    const body = this.#body.length > 1 ? Buffer.concat(this.#body) : only;
    this.#forgetBody();
    let done = false;
    const abandon = this.#service.handle({ method, url, headers, body }, (answer) => {
      done = true;
      this.#abandon = undefined;
      this.#send(answer, false);
    });
    if (!done) this.#abandon = abandon;
  }

  /** `early`: before the body has come. */
  #send(answer: DeviceResponse, early: boolean): void {
    if (this.#state === "over" || this.#socket.destroyed) return;
    if (answer.wire) {
      this.#sendWire(answer.wire);
      return;
    }
    const asked = this.#request as Asked;
    const { whole, closes } = write(
      answer,
      this.#service.now(),
      this.#draining ? { ...asked, keepAlive: false } : asked,
    );
    this.#socket.write(whole);
    if (early) this.#swallow();
    else this.#answered(!closes);
  }

  /** Reads what the device sends all the same, and then ends: it might not see its answer otherwise. */
  #swallow(): void {
    const { body } = this.#request as Prepared;
    this.#swallowed =
      body.kind === "none" ? 0 : Math.min(SWALLOWED, body.kind === "length" ? body.length : SWALLOWED);
    this.#swallowed -= this.#waiting.length;
    this.#waiting = NOTHING;
    this.#state = "swallow";
    if (this.#swallowed <= 0) this.#close();
    else this.#disarm(setTimeout(() => this.#close(), SWALLOW_MS));
  }

  #answered(stays: boolean): void {
    this.#passed = undefined;
    this.#abandon = undefined;
    this.#request = undefined;
    if (!stays || this.#draining) {
      this.#close();
      return;
    }
    this.#state = "head";
    this.#arm();
    this.#socket.resume();
    // Not on the stack of the answer: many requests may have come at once.
    if (this.#waiting.length > 0) setImmediate(() => this.#advance());
  }

  /** An error in the body, told of by what stands around the platform. */
  #fail(status: number, message: string): void {
    const passed = this.#passed;
    this.#passed = undefined;
    passed?.abandon();
    this.#forgetBody();
    const headers = { Vary: VARY, Connection: "close" };
    const answer = lateError(status, message, this.#service.now(), headers);
    this.#socket.write(write(answer, this.#service.now(), this.#request as Asked).whole);
    this.#close();
  }

  /** A fault: other bytes than the answer, and the end of the connection. */
  #sendWire({ bytes, end }: Wire): void {
    const socket = this.#socket;
    const finish = (): void => {
      if (end === "close") this.#close();
      else if ("encrypted" in socket) socket.destroy();
      else if (!socket.destroyed) socket.resetAndDestroy();
    };
    const later = (): void => void setTimeout(finish, end === "reset" ? RESET_MS : 0).unref();
    if (bytes.length === 0) finish();
    else socket.write(bytes, later);
  }

  /** In order; what still comes is read for a while and thrown away. */
  #close(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#waiting = NOTHING;
    this.#socket.end();
    this.#socket.resume();
    this.#disarm(setTimeout(() => this.#socket.destroy(), SWALLOW_MS));
  }

  #hungUp(): void {
    if (this.#state === "answer") this.#leave();
    this.#close();
  }

  #gone(): void {
    this.#leave();
    this.#state = "over";
    this.#waiting = NOTHING;
    this.#forgetBody();
    this.#disarm();
    this.#onOver();
  }

  #leave(): void {
    const abandon = this.#abandon;
    const passed = this.#passed;
    this.#abandon = undefined;
    this.#passed = undefined;
    abandon?.();
    passed?.abandon();
  }

  #forgetBody(): void {
    together -= this.#bodySize;
    this.#bodySize = 0;
    this.#body = [];
  }

  #arm(): void {
    this.#disarm(setTimeout(() => this.#timedOut(), this.#limits.idleMs));
  }

  /** What was to happen does not; this does, if there is something. */
  #disarm(next?: NodeJS.Timeout): void {
    clearTimeout(this.#timer);
    this.#timer = next?.unref();
  }

  /** Between requests and in a head it ends without a word. */
  #timedOut(): void {
    if (this.#state === "body") this.#fail(408, "SocketTimeoutException: ");
    else this.#close();
  }
}
