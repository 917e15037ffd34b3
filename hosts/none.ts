// The host that has nothing: every member refuses in the way its contract allows. It proves that src links without any
// machine, and is the list to start a new host from.
import type { Blocks, Clock, Host, Slot, Socket, Store } from "../src/port.js";

/** Time stands still: a timer is never due, and the time of day is not known. */
const clock: Clock = {
  now: () => 0,
  wall: () => undefined,
  timer: () => () => {},
};

/** Takes no byte and gives none. It never reports an event: that would take a timer. */
const socket: Socket = {
  write: () => 0,
  read: () => 0,
  close: () => {},
};

/** Holds no value and keeps none. */
const store: Store = {
  get: () => undefined,
  set: () => false,
  delete: () => true,
};

/** No sectors: the agent's queue is in memory only. */
const blocks: Blocks = {
  size: 0,
  sectorSize: 0,
  read: () => false,
  write: () => false,
  erase: () => false,
};

/** No room for an image, and none to go back to: no firmware is ever taken. */
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
  /** Refuses the text: no bytes. */
  encode: () => new Uint8Array(0),
  /** Refuses the bytes: no text. */
  decode: () => undefined,
  /** Leaves `into` as it is. */
  random: () => {},
  hardwareId: "none",
  log: () => {},
  restart: () => {},
};
