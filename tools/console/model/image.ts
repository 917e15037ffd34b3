// Images of one title and version: only their bytes, by the checksum, tell them apart.
import type { OtaPackage } from "../../operator/shapes.js";
import { shown } from "./format.js";

/** What a device reports of its image. */
export interface Running {
  title: unknown;
  version: unknown;
  checksum: unknown;
}

/** A sentence if the device runs other bytes than the package of the same name; otherwise empty. */
export function otherBytes(running: Running, assigned: OtaPackage | undefined): string {
  const isNamed = shown(running.title) === assigned?.title && shown(running.version) === assigned.version;
  if (!isNamed || !assigned?.checksum || running.version === undefined) return "";
  const sum = shown(running.checksum ?? "").toLowerCase();
  if (sum === assigned.checksum.toLowerCase()) return "";
  if (sum === "") return " It knows no checksum of it: it was not installed by an update.";
  return ` These are other bytes than the assigned package's: checksum ${sum.slice(0, 12)}…, not ${assigned.checksum.slice(0, 12)}….`;
}
