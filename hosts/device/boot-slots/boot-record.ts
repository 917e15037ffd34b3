// The boot record of two firmware slots. It decides which slot starts next.
import { isMadeOf, LOWER_HEX } from "../../../src/wire/text/characters.js";

export type SlotName = "a" | "b";

/** An image in a slot: the first `length` bytes. */
export interface ImageRecord {
  length: number;
  /** 64 lower-case digits. */
  sha256: string;
}

export interface Boot {
  /** The slot of the next start. */
  active: SlotName;
  /** `pending`: activated, and not confirmed yet. */
  state: "confirmed" | "pending";
  /** The pending image was started once, so the next start rolls back. Stored before the start. */
  started: boolean;
  /** How often the pending image was started. */
  starts: number;
  images: { a?: ImageRecord; b?: ImageRecord };
  /** SHA-256 of the file that `--app` installed last. */
  app?: string;
}

const FORMAT = 1;

export const otherSlot = (name: SlotName): SlotName => (name === "a" ? "b" : "a");

/** `boot` without the image of one slot. */
export const without = (boot: Boot, name: SlotName): Boot => {
  const { [name]: _gone, ...images } = boot.images;
  return { ...boot, images };
};

/** The record after a rollback to the previous image; undefined if there is none. */
export const reverted = (boot: Boot): Boot | undefined => {
  const before = otherSlot(boot.active);
  const image = boot.images[before];
  if (!image) return undefined;
  return {
    ...boot,
    active: before,
    state: "confirmed",
    started: false,
    starts: 0,
    images: { [before]: image },
  };
};

export const bootText = (boot: Boot): string => {
  return `${JSON.stringify({ format: FORMAT, ...boot }, undefined, 2)}\n`;
};

/**
 * Undefined if the text is damaged or has another format. An invalid image entry counts as missing.
 */
export const parseBoot = (text: string): Boot | undefined => {
  let value: Partial<Boot> & { format?: unknown };
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (value?.format !== FORMAT) return undefined;
  const { active, state, started, starts, images, app } = value;
  if (active !== "a" && active !== "b") return undefined;
  if (state !== "confirmed" && state !== "pending") return undefined;
  return {
    active,
    state,
    started: started === true,
    starts: Number.isSafeInteger(starts) ? (starts as number) : 0,
    images: { ...imageOf("a", images?.a), ...imageOf("b", images?.b) },
    ...(typeof app === "string" && { app }),
  };
};

const imageOf = (name: SlotName, image: ImageRecord | undefined): Boot["images"] => {
  if (!image || !Number.isSafeInteger(image.length) || image.length <= 0) return {};
  if (typeof image.sha256 !== "string" || image.sha256.length !== 64 || !isMadeOf(image.sha256, LOWER_HEX))
    return {};
  return { [name]: { length: image.length, sha256: image.sha256 } };
};
