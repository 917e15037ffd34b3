// A machine inside the engine itself, as cheap as one can be: sockets that answer at once, flash
// that is memory, a clock that the script sets. So nothing but the agent is measured, and no bridge
// to another process.
import { none } from "../../hosts/none.js";
import type { Blocks, Host, Socket, SocketEvent, Store } from "../../src/port.js";

/** What the local platform answers, before and behind the date. */
declare const ANSWER: readonly [before: string, after: string];

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const [BEFORE, AFTER] = ANSWER;
const POLL = encoder.encode("GET /api/v1/T1/rpc?");
const WALL = Date.UTC(2026, 0, 1);

/**
 * `now` is the machine's time in ms, `requests` what was answered so far, `last` the bytes of the
 * last one.
 */
export const world = { now: 0, requests: 0, last: encoder.encode("") };

function isPoll(bytes: Uint8Array): boolean {
  for (let i = 0; i < POLL.length; i++) if (bytes[i] !== POLL[i]) return false;
  return true;
}

/** Every request is taken whole and acknowledged in a later job; polls wait for ever. */
function open(
  _name: string,
  _port: number,
  _secure: boolean,
  event: (what: SocketEvent, reason?: string) => void,
): Socket {
  let answers = 0;
  const readable = () => event("readable");
  Promise.resolve().then(() => event("opened"));
  return {
    write(bytes) {
      if (isPoll(bytes)) return bytes.length;
      world.requests++;
      world.last = bytes as Uint8Array<ArrayBuffer>;
      answers++;
      Promise.resolve().then(readable);
      return bytes.length;
    },
    read(into) {
      if (answers === 0) return 0;
      answers--;
      const answer = encoder.encode(BEFORE + new Date(WALL + world.now).toUTCString() + AFTER);
      into.set(answer);
      return answer.length;
    },
    close() {},
  };
}

function memory(sectors: number): Blocks {
  const sectorSize = 4096;
  const bytes = new Uint8Array(sectors * sectorSize).fill(0xff);
  return {
    size: bytes.length,
    sectorSize,
    read: (at, into) => {
      into.set(bytes.subarray(at, at + into.length));
      return true;
    },
    write: (at, from) => {
      bytes.set(from, at);
      return true;
    },
    erase: (at) => {
      bytes.fill(0xff, at, at + sectorSize);
      return true;
    },
  };
}

function memoryStore(): Store {
  const values = new Map<string, Uint8Array>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      values.set(key, value.slice());
      return true;
    },
    delete: (key) => {
      values.delete(key);
      return true;
    },
  };
}

/** A board does these in C. */
const loops = {
  crc32: (_bytes: Uint8Array, from: number, to: number) => to - from,
  isErased: (bytes: Uint8Array, from: number) => bytes[from] === 0xff,
};
/** `sectors`: of flash, 0 for none. */
export const makeMachine = (sectors: number, log: Host["log"]): Host => ({
  ...none,
  clock: { now: () => world.now, wall: () => WALL + world.now, timer: () => () => {} },
  blocks: memory(sectors),
  store: memoryStore(),
  loops,
  open,
  encode: (text) => encoder.encode(text),
  decode: (bytes) => decoder.decode(bytes),
  random: (into) => void into.fill(7),
  hardwareId: "bench",
  log,
});
