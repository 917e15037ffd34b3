// Tiny firmware images.
import { fileURLToPath } from "node:url";
import type { WorkerConfig } from "../../../tools/run/messages.js";

export const STUB = fileURLToPath(new URL("./stub-worker.js", import.meta.url));

export function configFor(stateDir: string): WorkerConfig {
  return {
    stateDir,
    url: "http://127.0.0.1:1",
    token: "token-of-a-test",
    intervalMs: 1000,
    connections: 3,
    timestamps: "device",
    durable: true,
    insecureTls: false,
    allowHttpFirmware: false,
    firmwareHosts: [],
    exitOnRefusal: false,
  };
}

/** An image whose default function has this body. Its trial is short. */
export function image(version: string, body = ""): Buffer {
  return Buffer.from(`export const firmware = { title: "test", version: "${version}", trialMs: 1000 };
export default function (agent, host) {
${body}
}
`);
}

/** The body of an image that puts `next` into the other slot once, and asks for the restart. */
export function updateTo(next: Buffer): string {
  return `
  setInterval(() => {}, 1000);
  if (host.store.get("updated")) return;
  host.store.set("updated", new Uint8Array(1));
  const bytes = Buffer.from(${JSON.stringify(next.toString("base64"))}, "base64");
  for (let at = 0; at < bytes.length; at += 4096) {
    host.slot.erase(at);
    host.slot.write(at, bytes.subarray(at, at + 4096));
  }
  if (!host.slot.activate(bytes.length)) throw new Error("activate");
  host.restart("update");`;
}

export const STAYS = "setInterval(() => {}, 1000);";
export const CONFIRMS = `if (!host.slot.confirm()) throw new Error("confirm"); ${STAYS}`;
export const CRASHES = `throw new Error("it crashes");`;
/** For good, and leaves the processor to the others. */
export const BLOCKS = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
export const EXITS = "process.exit(0);";
export const RESTARTS = `host.restart("not confirmed"); ${STAYS}`;
