// What the two sides of the bridge say to each other, the same code on both. A question of the
// guest, or an event of the parent: op (1 byte), id (4), a (8), b (8), length of the text (4),
// text, bytes. The parent's answer to a question: a number (8), bytes.

/** What the guest asks the parent. `id` names a timer, a socket or a digest. */
export const ASK = {
  facts: 1, // -> JSON: {hardwareId, blocks: [size, sectorSize], slot: [size, sectorSize]}
  timer: 2, // id, a = ms
  cancel: 3, // id
  get: 4, // text = key -> 1 and the value, or 0
  set: 5, // text = key, bytes -> 1 or 0
  delete: 6, // text = key -> 1 or 0
  read: 7, // text = "blocks" | "slot", a = at, b = length -> 1 and the bytes, or 0
  write: 8, // text, a = at, bytes -> 1 or 0
  erase: 9, // text, a = at -> 1 or 0
  pending: 10, // -> 1 if the running image is pending
  activate: 11, // a = length -> 1 or 0
  confirm: 12, // -> 1 or 0
  revert: 13, // -> 1 or 0
  open: 14, // id, text = name, a = port, b = 1 if secure
  send: 15, // id, bytes -> how many were taken
  receive: 16, // id, a = length -> how many, and they
  close: 17, // id
  digest: 18, // id, text = algorithm -> 1 or 0
  update: 19, // id, bytes
  final: 20, // id -> the digest's bytes
  random: 21, // a = length -> the bytes
  log: 22, // text = level, bytes = line
  restart: 23, // bytes = reason
  settled: 24, // id, a = 1 fulfilled, 0 rejected, bytes = JSON of the value, or the error's text
  failed: 25, // bytes = what was thrown where nobody catches it
  parent: 26, // text = what, id: whatever a test tells its parent beyond the port
} as const;

/** What the parent sends the guest; a = monotonic time, b = wall time or NaN. */
export const NOTIFY = {
  run: 1, // id, bytes = script; its value is sent by ASK.settled
  due: 2, // id
  socket: 3, // id, text = event, bytes = reason
  guest: 4, // text = what, id, bytes: for globalThis.fromParent
  collect: 5, // garbage
} as const;

export interface Message {
  readonly op: number;
  readonly id: number;
  readonly a: number;
  readonly b: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** TextEncoder and TextDecoder, as far as both sides have them. */
export interface Encoder {
  encode(text: string): Uint8Array;
}
export interface Decoder {
  decode(bytes: Uint8Array): string;
}

const HEAD = 25;
const NONE: Uint8Array = new Uint8Array(0);

export function pack(
  encoder: Encoder,
  op: number,
  id: number,
  a = 0,
  b = 0,
  text = "",
  bytes = NONE,
): ArrayBuffer {
  const encoded = text === "" ? NONE : encoder.encode(text);
  const buffer = new ArrayBuffer(HEAD + encoded.length + bytes.length);
  const view = new DataView(buffer);
  view.setUint8(0, op);
  view.setUint32(1, id);
  view.setFloat64(5, a);
  view.setFloat64(13, b);
  view.setUint32(21, encoded.length);
  const whole = new Uint8Array(buffer);
  if (encoded.length > 0) whole.set(encoded, HEAD);
  if (bytes.length > 0) whole.set(bytes, HEAD + encoded.length);
  return buffer;
}

export function unpack(decoder: Decoder, buffer: ArrayBufferLike, from: number, length: number): Message {
  const view = new DataView(buffer, from, length);
  const end = HEAD + view.getUint32(21);
  return {
    op: view.getUint8(0),
    id: view.getUint32(1),
    a: view.getFloat64(5),
    b: view.getFloat64(13),
    text: end === HEAD ? "" : decoder.decode(new Uint8Array(buffer, from + HEAD, end - HEAD)),
    bytes: new Uint8Array(buffer, from + end, length - end),
  };
}
