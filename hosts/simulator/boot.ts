// What is known of the two firmware slots: boot.json, in the form that hosts/node/boot.ts has. The supervisor is the boot loader.
import type { Files } from "embedded:storage/files";
import { readWhole, replace } from "./files.js";

export type SlotName = "a" | "b";

export interface Boot {
  readonly active: SlotName;
  readonly state: "confirmed" | "pending";
  readonly started: boolean;
  readonly images: { readonly [name in SlotName]?: { readonly length: number; readonly sha256: string } };
  readonly app?: string;
}

const FORMAT = 1;
const PATH = "boot.json";

export const otherSlot = (name: SlotName): SlotName => (name === "a" ? "b" : "a");

/** Undefined if there is none that this version can read. */
export function readBoot(files: Files): Boot | undefined {
  const bytes = readWhole(files, PATH);
  if (!bytes) return undefined;
  try {
    const value = JSON.parse(String.fromArrayBuffer(bytes.buffer as ArrayBuffer));
    return value.format === FORMAT ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Durable on return. Throws. */
export function writeBoot(files: Files, boot: Boot): void {
  replace(files, PATH, new Uint8Array(ArrayBuffer.fromString(JSON.stringify({ ...boot, format: FORMAT }))));
}

/** The image before the pending one starts next, and the pending one never again. Undefined if there is none before it. */
export function reverted(boot: Boot): Boot | undefined {
  const before = otherSlot(boot.active);
  const image = boot.images[before];
  return (
    image && { ...boot, active: before, state: "confirmed", started: false, images: { [before]: image } }
  );
}
