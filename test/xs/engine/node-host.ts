import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { createHost } from "../../../hosts/node/host.js";
import type { Host } from "../../../src/port.js";

/** A host of this machine on a directory of its own, for the time of one test. */
export function nodeHost(t: ExecutionContext): Host {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-xs-"));
  const host = createHost({
    stateDir,
    blocksBytes: 65_536,
    slotBytes: 65_536,
    log: () => {},
    restart: () => {},
  });
  t.teardown(() => {
    host.close();
    rmSync(stateDir, { recursive: true });
  });
  return host;
}
