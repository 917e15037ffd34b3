import { randomFillSync } from "node:crypto";
import { clock } from "../../../hosts/node/clock.js";
import { opener } from "../../../hosts/node/sockets.js";
import { decode, encode } from "../../../hosts/node/text.js";
import { none } from "../../../hosts/none.js";
import type { Host } from "../../../src/port.js";

/** Host for a report; stores nothing. `ca`: PEM instead of Node's CAs. */
export function reportHost(ca: string | undefined): Host {
  const random = (into: Uint8Array): void => void randomFillSync(into);
  const log: Host["log"] = (level, line) => void process.stderr.write(`${level}: ${line}\n`);
  return { ...none, clock, open: opener({ ca }), encode, decode, random, log };
}
