// Stands in for parts.ts in a build without updates (manifest-lean.json): options of a firmware are refused, so that nobody waits for an update in vain.
import type * as full from "./parts.js";

export const FIRMWARE = (options: unknown): string | undefined =>
  options === undefined ? undefined : "is left out of this build";

export const makeParts: typeof full.makeParts = () => undefined;
