// Writes a counter to the store as fast as it can and reports each value that is stored: store-writer.js STATE.
import { join } from "node:path";
import { UNFENCED } from "../../../hosts/node/files.js";
import { FileStore } from "../../../hosts/node/store.js";

const store = new FileStore(join(process.argv[2] ?? "", "store"), UNFENCED);
const before = store.get("counter");
let n = before ? (new Uint32Array(before.slice().buffer)[0] ?? 0) : 0;

function next(): void {
  n++;
  if (!store.set("counter", new Uint8Array(new Uint32Array(500).fill(n).buffer))) process.exit(1);
  process.send?.(n);
  setImmediate(next);
}

next();
