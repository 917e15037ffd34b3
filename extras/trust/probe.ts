// Tests with a single handshake whether the platform can be reached with these CAs.

import type { Target } from "../../src/http/target.js";
import type { Clock, Host } from "../../src/port.js";

/** A handshake takes seconds on a chip, and may first wait for memory. */
const DEADLINE_MS = 60_000;

/** Undefined on success; otherwise the reason, for people. */
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
    const cancel = clock.timer(DEADLINE_MS, () => end("no answer in time"));
    const socket = open(name, port, true, (what, reason) => {
      if (what === "opened") end(undefined);
      else if (what === "closed") end(reason ?? "connection closed");
    });
  });
};
