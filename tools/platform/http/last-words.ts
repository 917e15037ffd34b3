// What goes over a connection before it ends out of turn.

import type { Socket } from "node:net";
import type { Wire } from "../device/messages.js";
import { page } from "./pages.js";
import type { Framing, RefusedHead } from "./prepared.js";
import { write } from "./writer.js";

/** How long what nobody wants is read on, so that the answer arrives before the connection is cut. */
export const SWALLOW_MS = 2_000;
/** Of a body that nobody wants, this much is read. */
const SWALLOWED = 2 * 1024 * 1024;
/** Between the last byte and a reset, which may overtake it. */
const RESET_MS = 20;

export function pageBytes(
  { status, announced, version }: RefusedHead,
  method: string,
  now: number,
): Uint8Array {
  return write(page(status), now, { method, version, keepAlive: !announced, asksToKeep: false }).whole;
}

/** A fault: other bytes than the answer, and the end of the connection. */
export function sendWire(socket: Socket, { bytes, end }: Wire, close: () => void): void {
  const finish = (): void => {
    if (end === "close") close();
    else if ("encrypted" in socket) socket.destroy();
    else if (!socket.destroyed) socket.resetAndDestroy();
  };
  const later = (): void => void setTimeout(finish, end === "reset" ? RESET_MS : 0).unref();
  if (bytes.length === 0) finish();
  else socket.write(bytes, later);
}

/** Reads what the device sends all the same, of which some has come, and then calls back. */
export function swallow(socket: Socket, framing: Framing, came: number, done: () => void): void {
  const stated = framing.kind === "length" ? framing.length : SWALLOWED;
  let left = framing.kind === "none" ? 0 : Math.min(SWALLOWED, stated) - came;
  if (left <= 0) {
    done();
    return;
  }
  const timer = setTimeout(done, SWALLOW_MS).unref();
  socket.on("data", (piece: Uint8Array) => {
    left -= piece.length;
    if (left > 0) return;
    clearTimeout(timer);
    done();
  });
}
