// One handshake with the platform, and nothing after it: does it succeed by these authorities?

import type { Target } from "../../src/http/target.js";
import type { Clock, Host } from "../../src/port.js";

/** A chip takes seconds for a handshake, and may have to wait for its turn. */
const PATIENCE_MS = 60_000;

/** Undefined if it did; else why not, for people. */
export const probe = (
  clock: Clock,
  open: Host["open"],
  { name, port }: Target,
): Promise<string | undefined> => {
  return new Promise((resolve) => {
    const end = (reason: string | undefined): void => {
      cancel();
      socket.close();
      resolve(reason);
    };
    const cancel = clock.timer(PATIENCE_MS, () => end("no answer in time"));
    const socket = open(name, port, true, (what, reason) => {
      if (what === "opened") end(undefined);
      else if (what === "closed") end(reason ?? "connection closed");
    });
  });
};
