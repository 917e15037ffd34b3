// The page over connections of the port's kind: one request each, all of it bounded in size, number and time.
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { RequestReader } from "./request.js";
import { type Answer, type Desk, headOf, refusal, respond } from "./respond.js";

type Machine = Pick<Host, "clock" | "encode" | "decode">;
export type Connect = (event: (what: SocketEvent) => void) => Socket;

/** A browser opens up to six at once, and asks again for those that were turned away. */
const MOST = 4;
/** For a request and its answer. */
const VISIT_MS = 15_000;
const PIECE = 512;

export class PageServer {
  readonly #desk: Desk;
  readonly #machine: Machine;
  readonly #visits: Visit[] = [];

  constructor(desk: Desk, machine: Machine) {
    this.#desk = desk;
    this.#machine = machine;
  }

  /** A visitor came; false if there is no room: then `connect` was not called. */
  accept(connect: Connect): boolean {
    if (this.#visits.length >= MOST) return false;
    const visit = new Visit(connect, this.#desk, this.#machine, () => {
      const at = this.#visits.indexOf(visit);
      if (at >= 0) this.#visits.splice(at, 1);
    });
    this.#visits.push(visit);
    return true;
  }

  close(): void {
    for (const visit of this.#visits.slice()) visit.end();
  }
}

class Visit {
  readonly #desk: Desk;
  readonly #machine: Machine;
  readonly #over: () => void;
  readonly #reader: RequestReader;
  readonly #socket: Socket;
  readonly #cancel: () => void;
  #out: Uint8Array | undefined;
  #ended = false;

  constructor(connect: Connect, desk: Desk, machine: Machine, over: () => void) {
    this.#desk = desk;
    this.#machine = machine;
    this.#over = over;
    this.#reader = new RequestReader(machine);
    this.#socket = connect((what) => this.#guard(what));
    this.#cancel = machine.clock.timer(VISIT_MS, () => this.end());
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancel();
    this.#socket.close();
    this.#over();
  }

  /** Nothing may reach a host's callback. */
  #guard(what: SocketEvent): void {
    try {
      if (this.#ended) return;
      if (what === "closed") this.end();
      else if (what === "readable") this.#read();
      else this.#write();
    } catch {
      this.end();
    }
  }

  #read(): void {
    const piece = new Uint8Array(PIECE);
    for (let count = this.#socket.read(piece); count > 0; count = this.#socket.read(piece))
      this.#reader.feed(count === PIECE ? piece : piece.subarray(0, count));
    if (this.#out || !this.#reader.isOver) return;
    const { request, flaw } = this.#reader;
    this.#answer(request ? respond(request, this.#desk) : refusal(flaw), request?.method === "HEAD");
  }

  #answer(answer: Answer, isHead: boolean): void {
    const body = this.#machine.encode(answer.body);
    const head = this.#machine.encode(headOf(answer, body.length));
    const out = new Uint8Array(head.length + (isHead ? 0 : body.length));
    out.set(head);
    if (!isHead) out.set(body, head.length);
    this.#out = out;
    this.#write();
  }

  #write(): void {
    while (this.#out && this.#out.length > 0) {
      const count = this.#socket.write(this.#out);
      if (count === 0) return;
      this.#out = this.#out.subarray(count);
    }
    if (this.#out) this.end();
  }
}
