// A host in a container that writes as fast as it can, and says what was stored: container-writer.js STATE ID.
import { writeSync } from "node:fs";
import { createHost } from "../../../hosts/node/host.js";
import { LockedError } from "../../../hosts/node/lease.js";
import { IN_USE } from "../../../tools/exit-codes.js";

const [stateDir = "", id = "0"] = process.argv.slice(2);
const RECORD = 16;

const say = (what: unknown): void => void writeSync(1, `${JSON.stringify(what)}\n`);

function open(): ReturnType<typeof createHost> {
  try {
    return createHost({
      stateDir,
      blocksBytes: 128 * 4096,
      slotBytes: 4096,
      log: (_, line) => say({ line }),
    });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    say({ refused: error.message });
    process.exit(IN_USE);
  }
}

const { blocks, store } = open();
let at = 0;
const found = new Uint32Array(RECORD / 4);
while (blocks.read(at, new Uint8Array(found.buffer)) && found.some((word) => word !== 0xffffffff))
  at += RECORD;
say({ ready: at });

let n = 0;
function next(): void {
  n++;
  const record = new Uint32Array([Number(id), n, at, 0]);
  say(blocks.write(at, new Uint8Array(record.buffer)) ? { stored: [Number(id), n, at] } : { failed: n });
  at += RECORD;
  if (n % 5 === 0 && store.set("last", new Uint8Array(record.buffer))) say({ last: [Number(id), n] });
  setTimeout(next, 1);
}
next();
