// The port on the XS side of the bridge: every member asks the parent, which has a real host.
// Only time, text and the bookkeeping of callbacks are here.
import type { Digest, Host, Slot, Socket, SocketEvent } from "../../../src/port.js";
import { ASK, type Message, NOTIFY, pack, unpack } from "./protocol.js";

declare const issueCommand: (question: ArrayBuffer) => ArrayBuffer;
declare const gc: () => void;

const NONE: Uint8Array = new Uint8Array(0);
const LONE = /[\ud800-\udfff]/gu;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const timers = new Map<number, () => void>();
const sockets = new Map<number, (what: SocketEvent, reason?: string) => void>();
const time = { now: 0, wall: Number.NaN };
let ids = 0;

function ask(op: number, id = 0, a = 0, b = 0, text = "", bytes = NONE): DataView {
  return new DataView(issueCommand(pack(encoder, op, id, a, b, text, bytes)));
}

const count = (answer: DataView): number => answer.getFloat64(0);
const yes = (answer: DataView): boolean => answer.getFloat64(0) === 1;
const rest = (answer: DataView): Uint8Array => new Uint8Array(answer.buffer, 8);
// TextEncoder of this engine lets a lone surrogate through, as three bytes that are no UTF-8.
const encode = (text: string): Uint8Array => encoder.encode(text.replace(LONE, "\ufffd"));

function timer(ms: number, due: () => void): () => void {
  const id = ++ids;
  timers.set(id, due);
  ask(ASK.timer, id, ms);
  return () => {
    if (timers.delete(id)) ask(ASK.cancel, id);
  };
}

function open(
  name: string,
  port: number,
  secure: boolean,
  event: (what: SocketEvent, reason?: string) => void,
): Socket {
  const id = ++ids;
  let closed = false;
  sockets.set(id, event);
  ask(ASK.open, id, port, secure ? 1 : 0, name);
  return {
    write: (bytes) => (closed ? 0 : count(ask(ASK.send, id, 0, 0, "", bytes))),
    read(into) {
      if (closed) return 0;
      const answer = ask(ASK.receive, id, into.length);
      const length = count(answer);
      if (length > 0) into.set(rest(answer));
      return length;
    },
    close() {
      if (closed) return;
      closed = true;
      sockets.delete(id);
      ask(ASK.close, id);
    },
  };
}

function digest(algorithm: string): Digest | undefined {
  const id = ++ids;
  if (!yes(ask(ASK.digest, id, 0, 0, algorithm))) return undefined;
  return {
    write: (bytes) => void ask(ASK.update, id, 0, 0, "", bytes),
    close: () => rest(ask(ASK.final, id)),
  };
}

function area(name: string, size: number, sectorSize: number) {
  return {
    size,
    sectorSize,
    read(at: number, into: Uint8Array) {
      const answer = ask(ASK.read, 0, at, into.length, name);
      if (yes(answer)) into.set(rest(answer));
      return yes(answer);
    },
    write: (at: number, bytes: Uint8Array) => yes(ask(ASK.write, 0, at, 0, name, bytes)),
    erase: (at: number) => yes(ask(ASK.erase, 0, at, 0, name)),
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a test tells its parent beyond the port: `BridgeOptions.parent`. */
export const tellParent = (what: string, id: number): void => void ask(ASK.parent, id, 0, 0, what);

/** What `Bridge.notify` calls. */
export type FromParent = (what: string, id: number, bytes: Uint8Array) => void;

function makeHost(): Host {
  const facts = JSON.parse(decoder.decode(rest(ask(ASK.facts))));
  const slot: Slot = {
    ...area("slot", facts.slot[0], facts.slot[1]),
    state: () => (yes(ask(ASK.pending)) ? "pending" : "confirmed"),
    activate: (length) => yes(ask(ASK.activate, 0, length)),
    confirm: () => yes(ask(ASK.confirm)),
    revert: () => yes(ask(ASK.revert)),
  };
  return {
    clock: {
      now: () => time.now,
      wall: () => (Number.isNaN(time.wall) ? undefined : time.wall),
      timer,
    },
    store: {
      get(key) {
        const answer = ask(ASK.get, 0, 0, 0, key);
        return yes(answer) ? rest(answer) : undefined;
      },
      set: (key, value) => yes(ask(ASK.set, 0, 0, 0, key, value)),
      delete: (key) => yes(ask(ASK.delete, 0, 0, 0, key)),
    },
    blocks: area("blocks", facts.blocks[0], facts.blocks[1]),
    slot,
    open,
    digest,
    encode,
    decode,
    random: (into) => into.set(rest(ask(ASK.random, 0, into.length))),
    hardwareId: facts.hardwareId,
    log: (level, line) => void ask(ASK.log, 0, 0, 0, level, encode(line)),
    restart: (reason) => void ask(ASK.restart, 0, 0, 0, "", encode(reason)),
  };
}

function explain(error: unknown): Uint8Array {
  return encode(error instanceof Error ? `${error.stack}` : String(error));
}

const failed = (error: unknown): void => void ask(ASK.failed, 0, 0, 0, "", explain(error));

// The global one, so that the script's declarations are global too.
// biome-ignore lint/security/noGlobalEval: it runs the tests' own scripts
const evaluate = globalThis.eval;

function run(id: number, source: string): void {
  const settled = (good: boolean, bytes: Uint8Array) => void ask(ASK.settled, id, good ? 1 : 0, 0, "", bytes);
  new Promise((resolve) => resolve(evaluate(source))).then(
    (value) => settled(true, encode(JSON.stringify(value) ?? "")),
    (error) => settled(false, explain(error)),
  );
}

function deliver(event: Message): void {
  if (event.op === NOTIFY.run) {
    run(event.id, decoder.decode(event.bytes));
  } else if (event.op === NOTIFY.collect) {
    gc();
  } else if (event.op === NOTIFY.guest) {
    (globalThis as { fromParent?: FromParent }).fromParent?.(event.text, event.id, event.bytes);
  } else if (event.op === NOTIFY.socket) {
    const reason = event.bytes.length > 0 ? decoder.decode(event.bytes) : undefined;
    sockets.get(event.id)?.(event.text as SocketEvent, reason);
  } else {
    const due = timers.get(event.id);
    timers.delete(event.id);
    due?.();
  }
}

/** Called by the engine for each event; promise jobs run when it has returned, before the next. */
function handleCommand(buffer: ArrayBuffer): void {
  const event = unpack(decoder, buffer, 0, buffer.byteLength);
  time.now = event.a;
  time.wall = event.b;
  try {
    deliver(event);
  } catch (error) {
    failed(error);
  }
}

// The engine calls console.error for a rejection that nobody handled; on a board it would restart
// the machine.
const hooks = { handleCommand, console: { error: (_what: unknown, error: unknown) => failed(error) } };
for (const [name, value] of Object.entries(hooks)) {
  Object.defineProperty(globalThis, name, { value, enumerable: false });
}

export const host: Host = makeHost();
Object.defineProperty(globalThis, "host", { value: host });
