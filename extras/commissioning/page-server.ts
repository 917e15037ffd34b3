// Serves the page over connections of the port, one request each, with limits of size, number and
// time.
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { type PageRequest, RequestReader } from "./request.js";
import { type Answer, headOf, type PageContext, refusal, respond, Visits } from "./respond.js";

type Machine = Pick<Host, "clock" | "encode" | "decode" | "random" | "hasRoom">;
export type Connect = (event: (what: SocketEvent) => void) => Socket;

/** A browser opens up to six connections at once, and retries rejected ones. */
const MOST = 4;
/** Time limit of a request and its answer. */
const VISIT_MS = 15_000;
const PIECE = 512;
/** Memory for a page: its text, the text's bytes, and those with the head. */
const PAGE_ROOM = 24_576;
/** Copies of a form while it is read: its bytes, its text, and the text in parts. */
const COPIES = 6;

export class PageServer {
  private readonly _context: PageContext;
  private readonly _machine: Machine;
  private readonly _visits: Visits;
  private readonly _connections: Connection[] = [];

  constructor(context: PageContext, machine: Machine) {
    this._context = context;
    this._machine = machine;
    this._visits = new Visits(context.commissioning, machine);
  }

  /** Called for a visitor; false if there is no room, without calling `connect`. */
  accept(connect: Connect): boolean {
    if (this._connections.length >= MOST || !this._hasRoom(0)) return false;
    const answer = (request: PageRequest): Answer => respond(request, this._context, this._visits);
    const reader = new RequestReader(this._machine, (bytes) => this._hasRoom(bytes));
    const connection = new Connection(connect, answer, this._machine, reader, () => {
      const at = this._connections.indexOf(connection);
      if (at >= 0) this._connections.splice(at, 1);
    });
    if (!connection.isOver) this._connections.push(connection);
    return true;
  }

  close(): void {
    for (const connection of this._connections.slice()) connection.end();
  }

  /** A device has little memory, and a failed allocation would restart it. */
  private _hasRoom(bodyBytes: number): boolean {
    const bytes = this._connections.reduce((sum, { reader }) => sum + reader.bodyBytes, bodyBytes);
    return this._machine.hasRoom?.(PAGE_ROOM + COPIES * bytes) !== false;
  }
}

class Connection {
  private readonly _respond: (request: PageRequest) => Answer;
  private readonly _machine: Machine;
  private readonly _over: () => void;
  readonly reader: RequestReader;
  private readonly _socket: Socket | undefined;
  private readonly _cancel: (() => void) | undefined;
  private _out: Uint8Array | undefined;
  isOver = false;

  constructor(
    connect: Connect,
    respond: (request: PageRequest) => Answer,
    machine: Machine,
    reader: RequestReader,
    over: () => void,
  ) {
    this._respond = respond;
    this._machine = machine;
    this._over = over;
    this.reader = reader;
    this._socket = connect((what) => this._guard(what));
    if (this.isOver) this._socket.close();
    else this._cancel = machine.clock.timer(VISIT_MS, () => this.end());
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this._cancel?.();
    this._socket?.close();
    this._over();
  }

  /** An exception must not reach a host's callback. */
  private _guard(what: SocketEvent): void {
    try {
      if (this.isOver) return;
      if (what === "closed") this.end();
      else if (what === "readable") this._read();
      else this._write();
    } catch {
      this.end();
    }
  }

  private _read(): void {
    const piece = new Uint8Array(PIECE);
    const read = (): number => this._socket?.read(piece) ?? 0;
    for (let count = read(); count > 0; count = read())
      this.reader.feed(count === PIECE ? piece : piece.subarray(0, count));
    if (this._out || !this.reader.isOver) return;
    const { request, problem } = this.reader;
    this._answer(request ? this._respond(request) : refusal(problem), request?.method === "HEAD");
  }

  private _answer(answer: Answer, isHead: boolean): void {
    const body = this._machine.encode(answer.body);
    const head = this._machine.encode(headOf(answer, body.length));
    const out = new Uint8Array(head.length + (isHead ? 0 : body.length));
    out.set(head);
    if (!isHead) out.set(body, head.length);
    this._out = out;
    this._write();
  }

  private _write(): void {
    while (this._out && this._out.length > 0) {
      const count = this._socket?.write(this._out) ?? 0;
      if (count === 0) return;
      this._out = this._out.subarray(count);
    }
    if (this._out) this.end();
  }
}
