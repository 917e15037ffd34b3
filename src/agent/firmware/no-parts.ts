// Stands in for parts.ts in a build without updates (manifest-lean.json): options of a firmware are refused, so that nobody waits for an update in vain.
import type * as full from "./parts.js";

export const checkFirmwareOptions: typeof full.checkFirmwareOptions = () => [
  "firmware: this build has no updates",
];

export const makeParts: typeof full.makeParts = () => undefined;
