import type { Socket } from "node:net";

/**
 * Resets a TCP connection. Node's `resetAndDestroy` ends it in order first, and a peer that reads
 * in between sees no reset. With this member `destroy` sends the reset alone.
 */
export function reset(socket: Socket): void {
  Object.assign(socket, { resetAndClosing: true }).destroy();
}
