// A host without any capability: every member refuses as its contract allows. It proves that src
// runs without a machine, and is a template for new hosts.
import type { Blocks, Clock, Host, Slot, Socket, Store } from "../src/port.js";

/** Time stands still: timers never fire, and the time of day is unknown. */
const clock: Clock = {
  now: () => 0,
  wall: () => undefined,
  timer: () => () => {},
};

/** Accepts no bytes and returns none. Never reports an event, which would need a timer. */
const socket: Socket = {
  write: () => 0,
  read: () => 0,
  close: () => {},
};

/** Stores nothing. */
const store: Store = {
  get: () => undefined,
  set: () => false,
  delete: () => true,
};

/** No sectors: the queue is in memory only. */
const blocks: Blocks = {
  size: 0,
  sectorSize: 0,
  read: () => false,
  write: () => false,
  erase: () => false,
};

/** No room for an image and no previous image: updates are never accepted. */
const slot: Slot = {
  ...blocks,
  state: () => "confirmed",
  activate: () => false,
  confirm: () => false,
  revert: () => false,
};

export const none: Host = {
  clock,
  store,
  blocks,
  slot,
  open: () => socket,
  digest: () => undefined,
  /** Encodes nothing. */
  encode: () => new Uint8Array(0),
  /** Decodes nothing. */
  decode: () => undefined,
  /** Leaves `into` unchanged. */
  random: () => {},
  hardwareId: "none",
  log: () => {},
  restart: () => {},
};
