// The port's promises hold on XS through the bridge, so that what runs over it may rely on them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { UNFENCED } from "../../hosts/node/files.js";
import { flash } from "../../hosts/node/flash.js";
import { createHost, type NodeHost } from "../../hosts/node/host.js";
import { prepareStart } from "../../hosts/node/start-up.js";
import type { Host } from "../../src/port.js";
import { pattern } from "../hosts/port/check.js";
import { Listeners } from "../hosts/port/node-peers.js";
import { PROMISES } from "../hosts/port/promises.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";
import { Peers } from "./engine/peers.js";

/** A machine that can be restarted: `host` leads to the one of the present start. */
function machine(t: ExecutionContext): { host: Host; restart(): void } {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-xs-"));
  const make = (): NodeHost =>
    createHost({ stateDir, blocksBytes: 16 * 4096, slotBytes: 16 * 4096, log: () => {}, restart: () => {} });
  flash(stateDir, pattern(5000, 11), UNFENCED);
  prepareStart(stateDir, UNFENCED, () => {});
  let present = make();
  t.teardown(() => {
    present.close();
    rmSync(stateDir, { recursive: true });
  });
  return {
    host: new Proxy(present, { get: (_, name: keyof Host) => present[name] }),
    restart() {
      present.close();
      prepareStart(stateDir, UNFENCED, () => {});
      present = make();
    },
  };
}

for (const { title } of PROMISES) {
  testOnXs(`on XS, ${title}`, async (t) => {
    const { host, restart } = machine(t);
    const listeners = new Listeners();
    t.teardown(() => listeners.close());
    let bridge: Bridge | undefined;
    const peers = new Peers(listeners, (what, id, bytes) => bridge?.notify(what, id, bytes));
    bridge = await Bridge.start(host, {
      guest: "./test/xs/guest/promises.ts",
      parent: (what, id, bytes) => {
        if (what === "restart") restart();
        else peers.asked(what, id, bytes);
        return undefined;
      },
    });
    await t.notThrowsAsync(bridge.run(`keeps(${JSON.stringify(title)})`));
    await bridge.close();
  });
}
