import type { Socket } from "node:net";
import { type DeviceResponse, lateError, VARY } from "../device/messages.js";
import { ChunkError } from "./chunks.js";
import { blankBefore, readHead } from "./head.js";
import { IncomingBody } from "./incoming-body.js";
import { pageBytes, SWALLOW_MS, sendWire, swallow } from "./last-words.js";
import { type Prepared, prepare, type RefusedHead } from "./prepared.js";
import type { Limits, Passed, Service } from "./service.js";
import { type Asked, write } from "./writer.js";

/** What may have come behind the request that is being answered. */
const MOST_BEHIND = 65_536;
const NOTHING = new Uint8Array(0);
const CONTINUE = "HTTP/1.1 100 \r\n\r\n";

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
  #body: IncomingBody | undefined;
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
    if (this.#state === "over" || this.#state === "swallow") return;
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
      if (this.#waiting.length === before) return;
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

  #refuse(refused: RefusedHead, method: string): void {
    this.#socket.write(pageBytes(refused, method, this.#service.now()));
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
    const passed = this.#passed;
    this.#body = new IncomingBody(request.body, passed && ((piece) => passed.body(piece)));
    if (request.expects) this.#socket.write(CONTINUE);
    if (this.#body.isDone) this.#bodyDone();
  }

  #readBody(): void {
    const body = this.#body as IncomingBody;
    try {
      this.#waiting = this.#waiting.subarray(body.take(this.#waiting));
    } catch (error) {
      if (!(error instanceof ChunkError)) throw error;
      this.#fail(400, `BadRequestException: ${error.message}`);
      return;
    }
    if (body.isTooLarge) this.#socket.destroy();
    else if (body.isDone) this.#bodyDone();
  }

  #bodyDone(): void {
    this.#state = "answer";
    this.#disarm();
    if (this.#passed) {
      this.#passed.end();
      return;
    }
    const { method, url, headers } = this.#request as Prepared;
    const body = this.#body?.whole() ?? NOTHING;
    this.#body?.forget();
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
      sendWire(this.#socket, answer.wire, () => this.#close());
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

  /** Ends once the device had time to see its answer. */
  #swallow(): void {
    this.#state = "swallow";
    this.#disarm();
    swallow(this.#socket, (this.#request as Prepared).body, this.#waiting.length, () => this.#close());
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

  /** An error in the body, reported by what stands around the platform. */
  #fail(status: number, message: string): void {
    const passed = this.#passed;
    this.#passed = undefined;
    passed?.abandon();
    this.#body?.forget();
    const headers = { Vary: VARY, Connection: "close" };
    const answer = lateError(status, message, this.#service.now(), headers);
    this.#socket.write(write(answer, this.#service.now(), this.#request as Asked).whole);
    this.#close();
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
    this.#body?.forget();
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

  #arm(): void {
    this.#disarm(setTimeout(() => this.#timedOut(), this.#limits.idleMs));
  }

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
