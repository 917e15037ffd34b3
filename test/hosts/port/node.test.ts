// The Node host keeps the port's promises.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { UNFENCED } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { createHost, type NodeHost } from "../../../hosts/node/host.js";
import { prepareStart } from "../../../hosts/node/start-up.js";
import { pattern } from "./check.js";
import { Listeners } from "./node-peers.js";
import { MANY, MUCH, type Promised, type Tools } from "./promised.js";
import { PROMISES, SOCKET_PROMISES } from "./promises.js";
import { CERT } from "./tls-fixture.js";

async function keeps(t: ExecutionContext, { run }: Promised, secure: boolean): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-port-"));
  const listeners = new Listeners(secure);
  const make = (): NodeHost =>
    createHost({ stateDir, ca: CERT, blocksBytes: 16 * 4096, slotBytes: 16 * 4096, log: () => {} });
  flash(stateDir, pattern(5000, 11), UNFENCED);
  prepareStart(stateDir, UNFENCED, () => {});
  let host = make();
  const tools: Required<Tools> = {
    listen: (script) => listeners.listen(script),
    nowhere: () => listeners.nowhere(),
    bytes: MUCH,
    sockets: MANY,
    unknown: { name: "nobody.invalid", port: 80, secure },
    async restart() {
      host.close();
      prepareStart(stateDir, UNFENCED, () => {});
      host = make();
      return host;
    },
  };
  try {
    await t.notThrowsAsync(async () => run(host, tools));
  } finally {
    await listeners.close();
    host.close();
    rmSync(stateDir, { recursive: true });
  }
}

// One after the other: they wait for the disk, and time is measured.
for (const promised of PROMISES) test.serial(promised.title, keeps, promised, false);
for (const promised of SOCKET_PROMISES) test.serial(`over TLS, ${promised.title}`, keeps, promised, true);
